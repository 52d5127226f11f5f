import JOSE

/// Decides when a provider's key set is fetched and which keys serve meanwhile. Does nothing itself: the owner
/// performs what it answers and tells it what came of it.
///
/// States: *empty* (never fetched, or too long ago), *fresh*, *stale* (past its max-age), each with or without one
/// fetch in flight.
///
/// - empty: every look-up waits for the fetch in flight, or begins one, or, right after a failure, is unavailable.
/// - fresh or stale with the key: the key serves at once; stale begins a fetch besides.
/// - fresh or stale without the key: one fetch, then a cooldown during which unknown keys are unknown. An unknown
///   `kid` is free to make up, so it must not become a way to make us hammer the provider.
/// - a failed fetch changes no key; the next one waits with a growing delay.
public struct KeyCache: Sendable {
    /// The times that bound it, in milliseconds.
    public struct Times: Sendable, Hashable {
        /// For how long a set is fresh when the provider does not say.
        public var freshByDefault: Int64 = 3_600_000
        /// The shortest and the longest max-age that we honour.
        public var freshRange: ClosedRange<Int64> = 300_000...86_400_000
        /// For how long a set serves after its fetch while the provider cannot be reached.
        public var servedMax: Int64 = 7 * 86_400_000
        /// How long after a fetch an unknown key causes the next one.
        public var unknownKeyCooldown: Int64 = 60_000
        /// The delay after the first failed fetch; it doubles with each further one.
        public var retryMin: Int64 = 1_000
        /// The longest delay after failed fetches.
        public var retryMax: Int64 = 60_000

        /// The default times.
        public init() {}
    }

    /// What to do about one look-up.
    public enum Decision: Sendable {
        /// Use this key.
        case use(VerificationKey)
        /// Use this key, and begin a fetch that nobody waits for.
        case useAndFetch(VerificationKey)
        /// Begin a fetch, wait for it, then ask ``afterFetch(keyID:algorithm:nowMilliseconds:)``.
        case fetchAndWait
        /// A fetch is in flight: wait for it, then ask ``afterFetch(keyID:algorithm:nowMilliseconds:)``.
        case wait
        /// The provider has no such key.
        case unknownKey
        /// The provider's keys cannot be had now.
        case unavailable
    }

    private let times: Times
    private var keys: KeySet?
    private var fetchedAt: Int64 = 0
    private var freshUntil: Int64 = 0
    private var attemptedAt: Int64?
    private var failureCount = 0
    private var isFetching = false

    /// An empty cache.
    public init(times: Times = Times()) {
        self.times = times
    }

    /// Decides about a look-up. After `fetchAndWait` and `useAndFetch` the fetch counts as begun: exactly one of
    /// ``fetched(_:maxAgeSeconds:nowMilliseconds:)`` and ``fetchFailed(nowMilliseconds:)`` must follow.
    public mutating func lookUp(
        keyID: String,
        algorithm: SignatureAlgorithm,
        nowMilliseconds now: Int64
    ) -> Decision {
        guard let keys = servingKeys(now) else {
            if isFetching { return .wait }
            return beginFetchIfAllowed(now) ? .fetchAndWait : .unavailable
        }
        if let key = keys.key(id: keyID, algorithm: algorithm) {
            guard now >= freshUntil, !isFetching else { return .use(key) }
            return beginFetchIfAllowed(now) ? .useAndFetch(key) : .use(key)
        }
        if isFetching { return .wait }
        if failureCount == 0, now < fetchedAt + times.unknownKeyCooldown { return .unknownKey }
        return beginFetchIfAllowed(now) ? .fetchAndWait : .unavailable
    }

    /// Decides about a look-up that waited for a fetch, which has ended now; never asks for another.
    public func afterFetch(keyID: String, algorithm: SignatureAlgorithm, nowMilliseconds now: Int64) -> Decision {
        if let key = servingKeys(now)?.key(id: keyID, algorithm: algorithm) { return .use(key) }
        return failureCount > 0 ? .unavailable : .unknownKey
    }

    /// The fetch in flight brought a key set.
    ///
    /// - Parameter maxAgeSeconds: what the provider's `Cache-Control` says; nil if nothing.
    public mutating func fetched(_ keys: KeySet, maxAgeSeconds: Int64?, nowMilliseconds now: Int64) {
        isFetching = false
        failureCount = 0
        self.keys = keys
        fetchedAt = now
        let seconds = maxAgeSeconds.map { min(max($0, 0), times.freshRange.upperBound / 1000) }
        let fresh = seconds.map { $0 * 1000 } ?? times.freshByDefault
        freshUntil = now + min(max(fresh, times.freshRange.lowerBound), times.freshRange.upperBound)
    }

    /// The fetch in flight failed: the keys that we have go on serving.
    public mutating func fetchFailed(nowMilliseconds now: Int64) {
        isFetching = false
        failureCount = min(failureCount + 1, 30)
        attemptedAt = now
    }

    /// Whether there are keys that serve now.
    public func isServing(nowMilliseconds now: Int64) -> Bool { servingKeys(now) != nil }

    private func servingKeys(_ now: Int64) -> KeySet? {
        now < fetchedAt + times.servedMax ? keys : nil
    }

    private mutating func beginFetchIfAllowed(_ now: Int64) -> Bool {
        if failureCount > 0, let attemptedAt {
            let delay = min(times.retryMin << Int64(min(failureCount - 1, 20)), times.retryMax)
            guard now >= attemptedAt + delay else { return false }
        }
        isFetching = true
        attemptedAt = now
        return true
    }
}
