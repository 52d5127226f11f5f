import Models
import ServiceKit
import Synchronization

/// Decides which calls write down that a session was used, so that of many at once one does, and that a database which
/// can't write holds up few of them. Any thread; never waits.
final class SessionUses: MetricsSource {
    /// The most that are written at a time; a use beyond is left to a later call.
    static let underWayMax = 256
    /// How long a call waits for it: a call is answered without it as well.
    static let writeLimit: Duration = .milliseconds(500)
    /// For how long nothing is written after a failure.
    static let pauseMilliseconds: Int64 = 10_000

    /// What became of a use that was to be written down.
    enum Outcome: Int, CaseIterable {
        /// It is written down.
        case recorded
        /// It couldn't be.
        case failed
        /// The caller went away meanwhile.
        case abandoned

        fileprivate var label: String {
            switch self {
            case .recorded: "recorded"
            case .failed: "failed"
            case .abandoned: "abandoned"
            }
        }
    }

    private struct State {
        var underWay: Set<SessionID> = []
        var pausedUntilMilliseconds = Int64.min
    }

    private let state = Mutex(State())
    private let family = CounterFamily(
        "vestibule_identity_session_uses_total",
        help: "Uses of single tokens that were to be written down in their sessions, by outcome.",
        labels: ["outcome"],
        values: Outcome.allCases.map { [$0.label] }
    )

    /// Without any yet.
    init() {}

    /// Whether the caller is to write down a use now, and to call ``end(_:_:nowMilliseconds:)`` after it.
    func begin(_ sessionID: SessionID, nowMilliseconds: Int64) -> Bool {
        state.withLock { state in
            guard nowMilliseconds >= state.pausedUntilMilliseconds, state.underWay.count < Self.underWayMax else {
                return false
            }
            return state.underWay.insert(sessionID).inserted
        }
    }

    /// A use was written down, or not.
    func end(_ sessionID: SessionID, _ outcome: Outcome, nowMilliseconds: Int64) {
        state.withLock { state in
            state.underWay.remove(sessionID)
            if outcome == .failed { state.pausedUntilMilliseconds = nowMilliseconds + Self.pauseMilliseconds }
        }
        family[outcome.rawValue].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
