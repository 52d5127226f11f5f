import ServiceKit

/// Metrics of scheduled deletions.
final class DeletionMetrics: MetricsSource {
    /// The outcome of a scheduled deletion.
    enum Outcome: String, CaseIterable {
        /// It was scheduled.
        case scheduled = "scheduled"
        /// A session of the account cancelled it.
        case cancelled = "cancelled"
        /// The account is deleted.
        case done = "done"
        /// The account could not be deleted at the due time; the deletion is retried.
        case failed = "failed"
    }

    private let family = CounterFamily(
        "vestibule_identity_scheduled_deletions_total",
        help: "Scheduled deletions of accounts, by what became of them.",
        labels: ["outcome"],
        values: Outcome.allCases.map { [$0.rawValue] }
    )

    /// Metrics that start at zero.
    init() {}

    /// Counts an outcome.
    func count(_ outcome: Outcome) {
        guard let index = Outcome.allCases.firstIndex(of: outcome) else { return }
        family[index].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
