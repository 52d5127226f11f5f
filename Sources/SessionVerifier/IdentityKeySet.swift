import API
import JOSE
import RPC
import Synchronization

/// Identity's public keys: fetched once per max-age, and when a token names a key that isn't known. Any thread.
final class IdentityKeySet: Sendable {
    /// The longest time that a set is kept, whatever identity says: a removed key is dropped within this time.
    private static let ageMax: Duration = .seconds(3_600)
    /// The wait after a failed fetch in the background.
    private static let retryWait: Duration = .seconds(5)
    /// The least time between two fetches while there is no set at all.
    private static let firstCooldown: Duration = .milliseconds(250)

    private struct State {
        var keys: KeySet?
        var text = ""
        var fetch: Task<Duration, any Error>?
        var fetchedAt: ContinuousClock.Instant?
        var lastError: RPCError?
    }

    private let state = Mutex(State())
    private let client: IdentityServiceClient
    private let timeout: Duration
    private let cooldown: Duration
    private let changed: @Sendable () -> Void

    /// - Parameter changed: called when the set has changed: tokens verified with the previous one may be invalid now.
    init(
        client: IdentityServiceClient,
        timeout: Duration,
        cooldown: Duration,
        changed: @escaping @Sendable () -> Void
    ) {
        self.client = client
        self.timeout = timeout
        self.cooldown = cooldown
        self.changed = changed
    }

    /// The key of this id. If it is unknown, waits for a fetch, unless there was one lately.
    func key(id: String, algorithm: SignatureAlgorithm) async throws(SessionRefusal) -> VerificationKey {
        if let key = known(id, algorithm) { return key }
        let error = await fetchUnlessLately()
        if let key = known(id, algorithm) { return key }
        // A fetched set doesn't have the key. With a fetch error it is unknown whether the key exists.
        if let error { throw .unavailable(error) }
        throw .invalid
    }

    /// Keeps the set fresh until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let wait = (try? await fetch()) ?? Self.retryWait
            try? await Task.sleep(for: wait)
        }
    }

    private func known(_ id: String, _ algorithm: SignatureAlgorithm) -> VerificationKey? {
        state.withLock { $0.keys }?.key(id: id, algorithm: algorithm)
    }

    /// Fetches the set, unless that was tried lately. Returns why there is no new set; nil if there is a recent one.
    private func fetchUnlessLately() async -> RPCError? {
        let (isLate, error) = state.withLock { state in
            guard let fetchedAt = state.fetchedAt, state.fetch == nil else { return (true, state.lastError) }
            let wait = state.keys == nil ? Self.firstCooldown : cooldown
            return (ContinuousClock.now - fetchedAt >= wait, state.lastError)
        }
        guard isLate else { return error }
        do {
            _ = try await fetch()
            return nil
        } catch {
            return error as? RPCError ?? RPCError(thrown: error)
        }
    }

    /// Fetches the set; concurrent callers share one call. Returns how long the set may be kept.
    private func fetch() async throws -> Duration {
        let task = state.withLock { state in
            if let fetch = state.fetch { return fetch }
            // A task of its own: the caller that began it may be cancelled, while others still wait.
            let fetch = Task { try await self.fetchNow() }
            state.fetch = fetch
            return fetch
        }
        return try await task.value
    }

    private func fetchNow() async throws -> Duration {
        var options = CallOptions(timeout: timeout)
        options.inheritsFromCall = false
        do {
            let response = try await client.getJWKS(.init(), options: options)
            let keys: KeySet
            do {
                keys = try KeySet(parsing: response.jwksJson.utf8)
            } catch {
                throw RPCError(.internalError, "identity's key set can't be read", cause: error)
            }
            let isOther = state.withLock { state in
                let isOther = state.text != response.jwksJson
                if isOther { (state.keys, state.text) = (keys, response.jwksJson) }
                (state.fetch, state.fetchedAt, state.lastError) = (nil, .now, nil)
                return isOther
            }
            if isOther { changed() }
            return min(.seconds(max(1, response.maxAgeSeconds)), Self.ageMax)
        } catch {
            let error = error as? RPCError ?? RPCError(thrown: error)
            state.withLock { ($0.fetch, $0.fetchedAt, $0.lastError) = (nil, .now, error) }
            throw error
        }
    }
}
