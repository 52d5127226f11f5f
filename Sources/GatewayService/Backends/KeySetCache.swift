import API
import RPC

/// Our public keys and our issuer as identity last sent them: fetched once per max-age, and served stale while identity is down.
actor KeySetCache {
    /// A key set and for how long clients may keep it.
    struct Answer: Sendable, Hashable {
        let json: String
        /// What our tokens name as their issuer.
        let issuer: String
        let maxAgeSeconds: Int64
    }

    /// The longest that a set is kept, in seconds, whatever identity says: a key that must go, goes within this.
    static let maxAgeSecondsMax: Int64 = 3600
    /// How long a stale set is served before identity is asked again, in seconds.
    static let retrySeconds: Int64 = 1

    private struct Kept {
        var json: String
        var issuer: String
        var freshUntil: ContinuousClock.Instant
    }

    private let identity: IdentityServiceClient
    private let now: @Sendable () -> ContinuousClock.Instant
    private var kept: Kept?
    private var fetch: Task<Answer, any Error>?

    init(identity: IdentityServiceClient, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.identity = identity
        self.now = now
    }

    /// The key set. Concurrent callers share one call.
    ///
    /// - Throws: `RPCError` if identity does not answer and nothing was ever fetched.
    func answer(timeout: Duration) async throws -> Answer {
        if let kept {
            let left = now().duration(to: kept.freshUntil)
            if left > .zero { return answer(kept, max(1, left.components.seconds)) }
        }
        if let fetch { return try await fetch.value }
        let fetch = Task { try await refresh(timeout: timeout) }
        self.fetch = fetch
        defer { self.fetch = nil }
        return try await fetch.value
    }

    private func refresh(timeout: Duration) async throws -> Answer {
        do {
            let response = try await identity.getJWKS(.init(), options: CallOptions(timeout: timeout))
            let seconds = min(max(response.maxAgeSeconds, 1), Self.maxAgeSecondsMax)
            let fresh = Kept(
                json: response.jwksJson,
                issuer: response.issuer,
                freshUntil: now().advanced(by: .seconds(seconds))
            )
            kept = fresh
            return answer(fresh, seconds)
        } catch {
            guard let stale = kept else { throw error }
            kept?.freshUntil = now().advanced(by: .seconds(Self.retrySeconds))
            return answer(stale, Self.retrySeconds)
        }
    }

    private func answer(_ kept: Kept, _ maxAgeSeconds: Int64) -> Answer {
        Answer(json: kept.json, issuer: kept.issuer, maxAgeSeconds: maxAgeSeconds)
    }
}
