import IdentityDomain
import Logging
import Models
import ServiceKit
import Synchronization

/// Collects which numbered tokens of sessions were seen in use, and stores that after the calls, many at once. Any thread; adding
/// never waits. A use that is lost in a crash or while the database is unavailable is made up for by the token's next use.
final class Acknowledgements: MetricsSource {
    /// The maximum of sessions that wait to be written; uses beyond it are left to later calls.
    static let waitingMax = 20_000
    /// The maximum of sessions that one statement writes: it locks each session's row until its end.
    static let writtenTogetherMax = 200
    /// How long the first one waits for others.
    static let gatheringTime: Duration = .milliseconds(3)
    /// The pause after a failure.
    static let pauseAfterFailure: Duration = .seconds(1)

    /// The outcome of one use.
    enum Outcome: Int, CaseIterable {
        /// It is stored, or was before.
        case written
        /// It shows that two clients hold tokens of the session, so the session is ended.
        case reused
        /// Too many were waiting.
        case dropped
        /// The database failed.
        case failed
        /// Its session is over, or another process was changing it: then a later use shows the same.
        case skipped

        fileprivate var label: String {
            switch self {
            case .written: "written"
            case .reused: "reused"
            case .dropped: "dropped"
            case .failed: "failed"
            case .skipped: "skipped"
            }
        }
    }

    private struct State {
        /// One for each session: of two numbers at the same time the first counts, and the other will be seen again.
        var waiting: [SessionID: UInt32] = [:]
        var underWay: [SessionID: UInt32] = [:]
    }

    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let family = CounterFamily(
        "vestibule_identity_acknowledgements_total",
        help: "Access tokens whose first use was to be written down in their sessions, by outcome.",
        labels: ["outcome"],
        values: Outcome.allCases.map { [$0.label] }
    )
    private let store: IdentityStore
    private let revocations: RevocationHub
    private let clock: WallClock
    private let logger: Logger

    /// Without any uses yet.
    init(store: IdentityStore, revocations: RevocationHub, clock: WallClock, logger: Logger) {
        self.store = store
        self.revocations = revocations
        self.clock = clock
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a use to be written.
    func add(_ seen: NumberSeen) {
        let (isFirst, isDropped) = state.withLock { state in
            if state.waiting[seen.sessionID] != nil || state.underWay[seen.sessionID] == seen.number {
                return (false, false)
            }
            guard state.waiting.count < Self.waitingMax else { return (false, true) }
            state.waiting[seen.sessionID] = seen.number
            return (state.waiting.count == 1, false)
        }
        if isFirst { wake.yield() }
        if isDropped { family[Outcome.dropped.rawValue].add() }
    }

    /// Writes until the task is cancelled.
    func run() async {
        for await _ in wakes {
            do {
                try await Task.sleep(for: Self.gatheringTime)
                try await writeAll()
            } catch {
                guard !Task.isCancelled else { return }
                logger.warning("first uses of tokens are not written down", metadata: ["cause": "\(error)"])
                try? await Task.sleep(for: Self.pauseAfterFailure)
                // Uses added meanwhile could not wake this task.
                wake.yield()
            }
        }
    }

    /// Writes all waiting uses.
    ///
    /// - Throws: the database's errors; uses that could not be written are dropped.
    func writeAll() async throws {
        while let some = take() {
            defer { state.withLock { $0.underWay = [:] } }
            do {
                let (judged, ended) = try await store.acknowledge(some, nowMilliseconds: clock.nowMilliseconds)
                family[Outcome.skipped.rawValue].add(UInt64(some.count - judged))
                family[Outcome.written.rawValue].add(UInt64(judged - ended))
                family[Outcome.reused.rawValue].add(UInt64(ended))
                if ended > 0 { revocations.announce() }
            } catch {
                family[Outcome.failed.rawValue].add(UInt64(some.count))
                throw error
            }
        }
    }

    /// Takes some waiting uses, which are under way from now on; nil if there are none.
    private func take() -> [NumberSeen]? {
        state.withLock { state in
            let some = state.waiting.prefix(Self.writtenTogetherMax)
            if some.isEmpty { return nil }
            for (sessionID, number) in some {
                state.underWay[sessionID] = number
                state.waiting[sessionID] = nil
            }
            return some.map { NumberSeen(sessionID: $0.key, number: $0.value) }
        }
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
