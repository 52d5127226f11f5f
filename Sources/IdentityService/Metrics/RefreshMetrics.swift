import IdentityDomain
import Postgres
import ServiceKit

/// Metrics of refreshes: the decisions on presented refresh tokens.
final class RefreshMetrics: MetricsSource {
    /// The outcome of a refresh.
    enum Outcome: Hashable {
        /// The session's row decided.
        case judged(RefreshVerdict)
        /// The token is not ours.
        case forged
        /// The database cannot be reached.
        case databaseUnavailable
        /// Anything else, such as a caller that disconnected.
        case failed

        static let all: [Outcome] =
            RefreshVerdict.allCases.map(Outcome.judged) + [.forged, .databaseUnavailable, .failed]

        init(_ error: PostgresError) {
            self = error.isUnavailable ? .databaseUnavailable : .failed
        }

        var label: String {
            switch self {
            case .judged(let verdict): verdict.rawValue
            case .forged: "forged"
            case .databaseUnavailable: "database_unavailable"
            case .failed: "failed"
            }
        }
    }

    private let outcomes = Dictionary(uniqueKeysWithValues: Outcome.all.enumerated().map { ($1, $0) })
    private let family = CounterFamily(
        "vestibule_identity_refreshes_total",
        help: "Refresh tokens that were presented, by what was decided about them.",
        labels: ["outcome"],
        values: Outcome.all.map { [$0.label] }
    )

    /// Metrics that start at zero.
    init() {}

    /// Counts a refresh.
    func count(_ outcome: Outcome) {
        guard let index = outcomes[outcome] else { return }
        family[index].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
