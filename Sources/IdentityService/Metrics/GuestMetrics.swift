import IdentityDomain
import ServiceKit

/// Metrics of guest accounts.
final class GuestMetrics: MetricsSource {
    /// What became of a guest account, or of a request for one.
    enum Outcome: String, CaseIterable {
        /// It was created, or returned again to a client that lost the response.
        case created = "created"
        /// Its maker had not done the work.
        case workRefused = "work_refused"
        /// There were too many new ones of an address.
        case limited = "limited"
        /// There were too many new ones in all: nobody becomes a guest until the hour is over.
        case limitedInAll = "limited_in_all"
        /// A provider was linked: it is a full account.
        case linked = "linked"
        /// Another account has absorbed it.
        case merged = "merged"
        /// It was deleted for a user who has signed in to another account.
        case dropped = "dropped"
        /// It was deleted since it had not been used.
        case expired = "expired"
        /// It could not be deleted when it had not been used; that is retried.
        case expiryFailed = "expiry_failed"

        /// The outcome of a request for one that was refused; nil for other errors.
        init?(_ error: any Error) {
            guard case IdentityError.guest(let refusal) = error else { return nil }
            switch refusal {
            case .workRequired, .workInvalid, .workExpired, .workSpent: self = .workRefused
            case .tooMany(_, inAll: false): self = .limited
            case .tooMany(_, inAll: true): self = .limitedInAll
            case .notEnabled, .notAllowed, .outcomeMissing, .tokenInvalid: return nil
            }
        }
    }

    private let family = CounterFamily(
        "vestibule_identity_guests_total",
        help: "Guest accounts, by what became of them or of the request for one.",
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
