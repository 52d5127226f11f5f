import IdentityDomain
import JOSE
import Logging
import Models
import Synchronization

/// One provider's keys: performs the fetches that ``KeyCache`` decides on.
///
/// Any thread. Look-ups that need a fetch wait for it; ``run()`` performs at most one at a time.
final class ProviderKeyring: Sendable {
    /// The maximum of look-ups that wait for one fetch.
    static let waitersMax = 1_024

    private struct State {
        var cache: KeyCache
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
        /// The number of ended fetches, so that no look-up waits for a fetch that ended before it was in line.
        var fetchesEnded = 0
        /// Whether fetching has ended: the service is stopping.
        var isStopped = false
        /// The metrics of the fetches.
        var reading: ProviderKeyMetrics.Reading
    }

    private let name: ProviderName
    private let url: String
    private let fetcher: any KeyFetching
    private let clock: WallClock
    private let logger: Logger
    private let state: Mutex<State>
    private let requests: AsyncStream<Void>
    private let requestFetch: AsyncStream<Void>.Continuation

    init(
        name: ProviderName,
        url: String,
        fetcher: any KeyFetching,
        clock: WallClock,
        times: KeyCache.Times,
        logger: Logger
    ) {
        self.name = name
        self.url = url
        self.fetcher = fetcher
        self.clock = clock
        self.logger = logger
        state = Mutex(State(cache: KeyCache(times: times), reading: .init(provider: name.value)))
        // One fetch is in flight at most, so one request waits at most.
        (requests, requestFetch) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Performs fetches until the task is cancelled; then all waiting look-ups fail.
    func run() async {
        for await _ in requests {
            await fetch()
        }
        state.withLock { $0.isStopped = true }
        endFetch { $0.cache.fetchFailed(nowMilliseconds: clock.nowMilliseconds) }
    }

    /// The metrics of the fetches so far.
    var reading: ProviderKeyMetrics.Reading { state.withLock { $0.reading } }

    /// Whether there are usable keys now, whether or not the one that a token asks for is among them.
    var isServing: Bool { state.withLock { $0.cache.isServing(nowMilliseconds: clock.nowMilliseconds) } }

    /// The key, if it is cached. Nothing is fetched.
    func knownKey(id: String, algorithm: SignatureAlgorithm) -> VerificationKey? {
        let decision = state.withLock { state in
            state.cache.afterFetch(keyID: id, algorithm: algorithm, nowMilliseconds: clock.nowMilliseconds)
        }
        guard case .use(let key) = decision else { return nil }
        return key
    }

    /// The key, after a fetch if the cache needs one.
    func key(id: String, algorithm: SignatureAlgorithm) async throws -> VerificationKey {
        let (decision, fetchesEnded) = state.withLock { state in
            let now = clock.nowMilliseconds
            return (
                state.cache.lookUp(keyID: id, algorithm: algorithm, nowMilliseconds: now), state.fetchesEnded
            )
        }
        switch decision {
        case .use(let key):
            return key
        case .useAndFetch(let key):
            requestFetch.yield()
            return key
        case .fetchAndWait:
            requestFetch.yield()
        case .wait:
            break
        case .unknownKey:
            throw TokenRejection.keyUnknown
        case .unavailable:
            throw IdentityError.providerUnavailable
        }
        try await waitForFetch(after: fetchesEnded)
        let later = state.withLock { state in
            state.cache.afterFetch(keyID: id, algorithm: algorithm, nowMilliseconds: clock.nowMilliseconds)
        }
        switch later {
        case .use(let key), .useAndFetch(let key): return key
        case .unknownKey: throw TokenRejection.keyUnknown
        case .unavailable, .wait, .fetchAndWait: throw IdentityError.providerUnavailable
        }
    }

    private func fetch() async {
        do {
            let fetched = try await fetcher.fetchKeys(from: url)
            let now = clock.nowMilliseconds
            endFetch { state in
                state.cache.fetched(fetched.keySet, maxAgeSeconds: fetched.maxAgeSeconds, nowMilliseconds: now)
                state.reading.fetches += 1
                state.reading.keyCount = fetched.keySet.entries.count
                state.reading.fetchedAt = now
            }
            logger.info(
                "provider keys fetched",
                metadata: ["provider": "\(name)", "keys": "\(fetched.keySet.entries.count)"]
            )
        } catch {
            endFetch { state in
                state.cache.fetchFailed(nowMilliseconds: clock.nowMilliseconds)
                state.reading.failures += 1
            }
            logger.warning(
                "provider keys could not be fetched",
                metadata: ["provider": "\(name)", "cause": "\(error)"]
            )
        }
    }

    private func endFetch(_ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            state.fetchesEnded += 1
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Returns when a fetch has ended since the count was read; throws if the task is cancelled, too many look-ups wait, or
    /// fetching has ended.
    private func waitForFetch(after fetchesEnded: Int) async throws {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let isInLine = Mutex(true)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesNow = state.withLock { state in
                    if state.fetchesEnded != fetchesEnded || Task.isCancelled { return true }
                    guard state.waiters.count < Self.waitersMax, !state.isStopped else {
                        isInLine.withLock { $0 = false }
                        return true
                    }
                    state.waiters[id] = continuation
                    return false
                }
                if resumesNow { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
        try Task.checkCancellation()
        guard isInLine.withLock({ $0 }) else { throw IdentityError.providerUnavailable }
    }
}
