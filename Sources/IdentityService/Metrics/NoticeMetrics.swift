import IdentityDomain
import Postgres
import ServiceKit

/// Metrics of provider notices and their outcomes.
final class NoticeMetrics: MetricsSource {
    /// The outcome of receiving a message.
    enum Outcome: Hashable {
        /// It is stored.
        case stored
        /// It had been stored before.
        case repeated
        /// It is forged, foreign, too old or from the future.
        case refused(NoticeRejection)
        /// The provider's keys are unavailable.
        case providerUnavailable
        /// The database cannot be reached.
        case databaseUnavailable
        /// Anything else, such as a caller that disconnected.
        case failed

        static let all: [Outcome] =
            [.stored, .repeated] + NoticeRejection.allCases.map(Outcome.refused)
            + [.providerUnavailable, .databaseUnavailable, .failed]

        init(_ error: any Error) {
            switch error {
            case IdentityError.notice(let rejection): self = .refused(rejection)
            case IdentityError.providerUnavailable: self = .providerUnavailable
            case let error as PostgresError where error.isUnavailable: self = .databaseUnavailable
            default: self = .failed
            }
        }

        /// The value of the label: the reason on the wire if there is one.
        var label: String {
            switch self {
            case .stored: "stored"
            case .repeated: "repeated"
            case .refused(let rejection): rejection.reason.lowercased()
            case .providerUnavailable: "provider_unavailable"
            case .databaseUnavailable: "database_unavailable"
            case .failed: "failed"
            }
        }
    }

    /// Whether an event was about a known user.
    private static let whom = ["known", "unknown"]

    private let received = CounterFamily(
        "vestibule_identity_provider_notices_total",
        help: "Messages of providers about their people, by what came of them as they came in.",
        labels: ["provider", "outcome"],
        values: NoticeSender.allCases.flatMap { sender in Outcome.all.map { [sender.rawValue, $0.label] } }
    )
    private let applied = CounterFamily(
        "vestibule_identity_provider_notices_applied_total",
        help: "Events of providers that were applied, by kind and whether they were about somebody who is known.",
        labels: ["notice", "person"],
        values: NoticeKind.allCases.flatMap { kind in NoticeMetrics.whom.map { [kind.rawValue, $0] } }
    )
    private let failures = CounterFamily(
        "vestibule_identity_provider_notice_failures_total",
        help: "Tries to apply an event of a provider that failed; each is tried again.",
        labels: [],
        values: [[]]
    )
    private let lost = CounterFamily(
        "vestibule_identity_provider_notices_lost_total",
        help: "Events of providers that could not be applied for sixty days and were deleted."
    )
    private let outcomes = Dictionary(uniqueKeysWithValues: Outcome.all.enumerated().map { ($1, $0) })

    /// Counts a message.
    func count(_ sender: NoticeSender, _ outcome: Outcome) {
        guard let row = NoticeSender.allCases.firstIndex(of: sender), let column = outcomes[outcome] else { return }
        received[row * outcomes.count + column].add()
    }

    /// Counts an applied event.
    func count(_ notice: AppliedNotice) {
        guard let row = NoticeKind.allCases.firstIndex(of: notice.kind) else { return }
        applied[row * Self.whom.count + (notice.userID == nil ? 1 : 0)].add()
    }

    /// Counts a failed try.
    func countFailure() { failures[0].add() }

    /// Counts events that were never applied.
    func countLost(_ count: Int) { lost[0].add(UInt64(count)) }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        received.write(to: &text)
        applied.write(to: &text)
        failures.write(to: &text)
        lost.write(to: &text)
    }
}
