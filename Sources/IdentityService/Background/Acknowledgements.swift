import IdentityDomain
import Logging
import Models
import ServiceKit
import Synchronization

/// Gathers which numbered tokens of sessions were seen in use, and writes it down behind the calls, many at once. Any thread; adding
/// never waits. What is lost in a crash or while the database is away comes with the next use of the token.
final class Acknowledgements: MetricsSource {
    /// The most sessions that wait to be written; uses beyond are left to later calls.
    static let waitingMax = 20_000
    /// The most sessions that one statement writes: each keeps its row locked until the end of it.
    static let writtenTogetherMax = 200
    /// How long the first one waits for others.
    static let gatheringTime: Duration = .milliseconds(3)
    /// For how long nothing is written after a failure.
    static let pauseAfterFailure: Duration = .seconds(1)

    /// What became of one.
    enum Outcome: Int, CaseIterable {
        /// It is written down, or was before.
        case written
        /// It shows that two hold tokens of the session, which is ended.
        case reused
        /// Too many were waiting.
        case dropped
        /// The database could not take it.
        case failed
        /// Its session is over, or somebody else was changing it: then a later use shows the same.
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
        /// One a session: of two numbers at the same time the first one counts, and the other is seen again.
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

    /// Without any yet.
    init(store: IdentityStore, revocations: RevocationHub, clock: WallClock, logger: Logger) {
        self.store = store
        self.revocations = revocations
        self.clock = clock
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes one to be written.
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
                // Whatever came meanwhile had nobody to wake.
                wake.yield()
            }
        }
    }

    /// Writes all that wait now.
    ///
    /// - Throws: what the database throws; what could not be written is forgotten.
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

    /// Some that wait, which are under way from now on; nil if none do.
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
