import Foundation

/// Keeps the session: it is written before it is used, refreshed by one task at a time over all processes, and ended only by the server
/// or the user. Refreshes are in ``SessionKeeper+Refresh``, signing in and out in ``SessionKeeper+SignIn``.
///
/// The record in the store is the truth. Each decision reads it, since another process may have changed it; what this process knows of
/// a token, that no other can, is when it came by a clock that nobody sets.
package actor SessionKeeper {
    let store: any SessionStore
    /// Under which the record is.
    let key: String
    let server: SessionServer
    let clock: TokenClock
    /// How long a refresh may take that callers share.
    let refreshDeadline: Duration
    let announcer = StateAnnouncer()

    /// The newest token that this process received, and when.
    private var receipt: (accessToken: String, at: Duration)?
    /// The refresh that is under way.
    var refresh: (flight: Flight<SessionRecord.Session>, task: Task<Void, Never>)?
    /// The pause that the server asked for when it refused to refresh.
    var pause: (refreshToken: String, until: Duration, error: VestibuleError)?
    /// The task that ends sessions at the server.
    var ending: Flight<Void>?
    private var hasBegun = false
    /// How many records were observed, and the generation of the last one.
    private var observed: (count: Int, generation: Int64) = (0, 0)

    init(
        store: any SessionStore,
        key: String,
        server: SessionServer,
        clock: TokenClock,
        refreshDeadline: Duration
    ) {
        self.store = store
        self.key = key
        self.server = server
        self.clock = clock
        self.refreshDeadline = refreshDeadline
    }

    // MARK: The record

    /// The record as it is now. One that can't be read is put aside first.
    ///
    /// - Throws: ``VestibuleError`` with `STORE_FAILED`, or `CancellationError`.
    @inline(never)
    func record() async throws -> SessionRecord {
        var record = try await current()
        if !hasBegun {
            hasBegun = true
            var rest = record
            rest.dropExpired(clock.wall())
            if rest != record { record = try await locked { _ in } }
            endSessionsAtServer(record)
        }
        return record
    }

    private func current() async throws -> SessionRecord {
        while true {
            let before = observed.count
            guard let record = try await read() else { return try await locked { _ in } }
            // A newer record may have been written and observed since this read began.
            if observed.count == before || record.generation >= observed.generation {
                observe(record)
                return record
            }
        }
    }

    /// The record; nil if there is one that can't be read.
    private func read() async throws -> SessionRecord? {
        guard let data = try await storing({ try await store.read(key) }) else { return SessionRecord() }
        do {
            return try SessionRecord(parsing: data)
        } catch SessionRecord.newer {
            throw VestibuleError.storedByNewerVersion
        } catch {
            return nil
        }
    }

    /// Does `body` under the store's lock with the record as it is then, and writes the record if `body` changed it.
    ///
    /// - Returns: The record.
    @discardableResult
    @inline(never)
    func locked(_ body: @escaping @Sendable (inout SessionRecord) async throws -> Void) async throws -> SessionRecord {
        do {
            return try await store.withLock(key) {
                try await self.change(body)
            }
        } catch let error where error is VestibuleError || error is CallFailure || error is CancellationError {
            throw error
        } catch {
            throw VestibuleError.storeFailed(error)
        }
    }

    private func change(_ body: @Sendable (inout SessionRecord) async throws -> Void) async throws -> SessionRecord {
        let before: SessionRecord?
        var record: SessionRecord
        if let read = try await read() {
            (before, record) = (read, read)
        } else {
            (before, record) = (nil, try await putAside())
        }
        record.dropExpired(clock.wall())
        try await body(&record)
        if record != before {
            record.generation += 1
            let data = record.serialized
            try await storing { try await store.write(data, key) }
        }
        observe(record)
        return record
    }

    /// Keeps what can't be read under another key, for a person to mend.
    ///
    /// - Returns: The record in its place.
    private func putAside() async throws -> SessionRecord {
        let aside = "\(key).unreadable-\(clock.wall())"
        try await storing {
            if let data = try await store.read(key) { try await store.write(data, aside) }
        }
        var record = SessionRecord()
        record.ended = .storeUnreadable
        return record
    }

    private func storing<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw VestibuleError.storeFailed(error)
        }
    }

    private func observe(_ record: SessionRecord) {
        observed = (observed.count + 1, record.generation)
        announcer.announce(record)
    }

    /// Forgets a reason that the app has got. If it can't be forgotten now, the app gets it once more after a restart.
    func clearEnded(_ code: VestibuleError.Code) async {
        _ = try? await locked { record in if record.ended == code { record.ended = nil } }
    }

    // MARK: The state

    /// The state as the store has it.
    package func state() async throws -> SessionState { StateAnnouncer.state(of: try await record()) }

    /// Adds a consumer of states, who gets the one of now and every change.
    func watch(_ continuation: AsyncStream<SessionState>.Continuation) async {
        // If the store fails, the first call that succeeds announces the state.
        announcer.add(continuation, try? await record())
    }

    // MARK: Tokens

    /// A session whose access token is good for a call, and another one than a token that was refused; it is refreshed before if need be.
    package func session(insteadOf refused: String? = nil) async throws -> SessionRecord.Session {
        guard let session = try await record().session else { throw VestibuleError.signedOut }
        let isGood = session.accessToken != refused && isFresh(session)
        return isGood ? session : try await renewed(replacing: session.refreshToken)
    }

    /// A session with new tokens, whether or not those that there are have expired.
    func refreshedSession() async throws -> SessionRecord.Session {
        guard let session = try await record().session else { throw VestibuleError.signedOut }
        return try await renewed(replacing: session.refreshToken)
    }

    private func isFresh(_ session: SessionRecord.Session) -> Bool {
        let age: Duration =
            if let receipt, receipt.accessToken == session.accessToken {
                clock.elapsed() - receipt.at
            } else {
                .milliseconds(clock.wall() - session.receivedAt)
            }
        return TokenLife.isFresh(lifetimeSeconds: session.lifetimeSeconds, age: age)
    }

    /// Remembers when a token came.
    func received(_ session: SessionRecord.Session) { receipt = (session.accessToken, clock.elapsed()) }
}
