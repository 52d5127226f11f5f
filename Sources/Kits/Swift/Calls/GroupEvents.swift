import Foundation

extension Vestibule {
    /// What changes in the user's groups, as it changes.
    ///
    /// The first message comes at once: lists that the app requests after it have all earlier changes. The sequence reconnects by itself
    /// and continues where it was; ``WatchGroupsResponse/isReset`` says that changes may be missing, and that the app requests its lists
    /// again.
    ///
    /// It throws ``VestibuleError`` when the session ends, and with `SIGNED_OUT` when the user signs out or another one signs in; and
    /// `CancellationError`. It ends its connection when its iterator goes.
    public func events() -> GroupEvents { GroupEvents(client: self) }
}

/// See ``Vestibule/events()``.
public struct GroupEvents: AsyncSequence, Sendable {
    /// What the server sends: changes, or that lists have to be read again.
    public typealias Element = Vestibule.WatchGroupsResponse

    let client: Vestibule

    /// Begins to watch.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client) }

    /// One stream after the other.
    public struct Iterator: AsyncIteratorProtocol {
        /// A connection that brings nothing for so long, not even the server's heartbeat, is lost.
        private static let silenceMax: Duration = .seconds(60)

        private let client: Vestibule
        private var policy: RetryPolicy
        private var connection: Connection?
        private var position = ""
        /// Whose groups these are.
        private var userID: String?
        private var hasBegun = false
        private var failures = 0
        /// The access token that the last stream ended for.
        private var rejected: String?

        init(client: Vestibule) {
            self.client = client
            policy = client.retries.policy
            policy.firstPause = .milliseconds(500)
            policy.longestPause = .seconds(30)
        }

        /// The next message; nil once the task is cancelled.
        public mutating func next() async throws -> Element? {
            while true {
                do {
                    if connection == nil { connection = try await connected() }
                    if let message = try await connection?.next() {
                        position = message.position
                        (failures, rejected) = (0, nil)
                        let isHeartbeat = !message.isReset && message.changes.isEmpty && message.accountChanges.isEmpty
                        if isHeartbeat, hasBegun { continue }
                        hasBegun = true
                        return message
                    }
                    throw CallFailure.lost(.streamEnded)
                } catch let failure as CallFailure {
                    let session = connection?.session
                    connection = nil
                    if let message = try await recovered(failure, session) { return message }
                }
            }
        }

        private mutating func connected() async throws -> Connection {
            let keeper = client.keeper
            do {
                let session = try await keeper.session(insteadOf: rejected)
                guard userID == nil || userID == session.userID else { throw VestibuleError.signedOut }
                userID = session.userID
                // What follows a failure is decided by the session that it was of.
                connection = Connection(session)
                return Connection(session, try await stream(session), keeper.announcer)
            } catch let error as VestibuleError where error.isPassing {
                throw CallFailure.refused(error, isOwn: true)
            }
        }

        /// Opens a stream, or stops trying when the user changes or signs out.
        private func stream(_ session: SessionRecord.Session) async throws -> HTTPStream {
            let opening = Task { [wire = client.wire, position] in
                var message = JSONObject()
                message.set("position", position)
                let request = message
                return try await Deadline(in: Self.silenceMax).run {
                    try await wire.stream(
                        .watchGroups,
                        request,
                        token: session.accessToken,
                        silenceMax: Self.silenceMax
                    )
                }
            }
            return try await whileSignedIn(session.userID, opening)
        }

        /// Waits for a task, which is cancelled when the user changes or signs out.
        ///
        /// - Throws: ``VestibuleError`` with `SIGNED_OUT` in that case; what the task throws; `CancellationError` if this task is cancelled.
        private func whileSignedIn<Value: Sendable>(
            _ userID: String?,
            _ task: Task<Value, any Error>
        ) async throws -> Value {
            let takeBack = userID.map { client.keeper.announcer.atEnd(of: $0) { task.cancel() } }
            defer { takeBack?() }
            do {
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            } catch is CancellationError {
                try Task.checkCancellation()
                throw VestibuleError.signedOut
            }
        }

        /// Decides what follows a failure, and waits until the next try.
        ///
        /// - Returns: A message that the consumer gets in its place.
        private mutating func recovered(
            _ failure: CallFailure,
            _ session: SessionRecord.Session?
        ) async throws -> Element? {
            let error = failure.error
            if let session, error.rejectsToken {
                // A refresh decides about the session. If its token is rejected, too, something else is wrong.
                let isRefreshed = rejected != nil
                rejected = session.accessToken
                if isRefreshed { try await pause(nil) }
                return nil
            }
            guard error.isPassing || error.code == .tooSlow else { throw error }
            try await pause(error.retryAfter)
            return error.code == .tooSlow ? Element(position: position, isReset: true) : nil
        }

        /// Waits until the next try, or until the user changes or signs out.
        private mutating func pause(_ retryAfter: Duration?) async throws {
            failures += 1
            let pause = policy.pause(failures: failures, retryAfter: retryAfter, random: .random(in: 0...1))
            try await whileSignedIn(userID, Task { try await Task.sleep(for: pause) })
        }
    }
}

extension VestibuleError {
    /// Whether the same may succeed later without anybody's doing.
    fileprivate var isPassing: Bool { action == .wait || action == .retry }
}

extension HTTPFailure {
    fileprivate static let streamEnded = HTTPFailure(wasNotSent: false, isTimeout: false, message: "The stream ended.")
}

extension GroupEvents.Iterator {
    /// One stream. It ends with its last reference.
    private final class Connection {
        let session: SessionRecord.Session
        private var pieces: AsyncThrowingStream<Data, any Error>.AsyncIterator?
        private var envelopes = EnvelopeReader()
        private var takeBack: (@Sendable () -> Void)?

        /// A stream that the server refused.
        init(_ session: SessionRecord.Session) { self.session = session }

        init(_ session: SessionRecord.Session, _ stream: HTTPStream, _ announcer: StateAnnouncer) {
            self.session = session
            pieces = stream.pieces.makeAsyncIterator()
            // The user may sign out while nothing comes.
            takeBack = announcer.atEnd(of: session.userID, stream.cancel)
        }

        deinit { takeBack?() }

        /// The next message; nil at an end without an error.
        func next() async throws -> Vestibule.WatchGroupsResponse? {
            while true {
                if let envelope = try read({ try envelopes.next() }) {
                    let json = try read { try JSONObject(parsing: envelope.message) }
                    guard envelope.isEnd else { return Vestibule.WatchGroupsResponse(json: json) }
                    guard let error = json.object("error") else { return nil }
                    throw CallFailure.refused(ErrorReader.error(ofStream: error), isOwn: true)
                }
                do {
                    guard let piece = try await pieces?.next() else { return nil }
                    envelopes.add(piece)
                } catch let failure as HTTPFailure {
                    throw CallFailure.lost(failure)
                } catch let error as CancellationError {
                    // Signing out cancels the stream, and not the task.
                    guard Task.isCancelled else { return nil }
                    throw error
                }
            }
        }

        private func read<Result>(_ body: () throws -> Result) throws -> Result {
            do {
                return try body()
            } catch is JSONFault {
                throw CallFailure.refused(.badResponse(status: 200), isOwn: false)
            }
        }
    }
}
