import ServiceKit

/// What became of scheduled deletions.
final class DeletionMetrics: MetricsSource {
    /// What happened to one.
    enum Outcome: String, CaseIterable {
        /// It was scheduled.
        case scheduled = "scheduled"
        /// A session of the account cancelled it.
        case cancelled = "cancelled"
        /// The account is deleted.
        case done = "done"
        /// The account could not be deleted when the time had come; it is tried again.
        case failed = "failed"
    }

    private let family = CounterFamily(
        "vestibule_identity_scheduled_deletions_total",
        help: "Scheduled deletions of accounts, by what became of them.",
        labels: ["outcome"],
        values: Outcome.allCases.map { [$0.rawValue] }
    )

    /// Without any yet.
    init() {}

    /// Counts one.
    func count(_ outcome: Outcome) {
        guard let index = Outcome.allCases.firstIndex(of: outcome) else { return }
        family[index].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
