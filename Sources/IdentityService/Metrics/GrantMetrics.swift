import IdentityDomain
import ServiceKit
import Synchronization

/// Metrics of the tokens that providers granted. They contain no token and no user.
final class GrantMetrics: MetricsSource {
    /// The outcome of a token that came, or could have come, with a sign-in.
    enum Kept: String, CaseIterable {
        /// It is kept.
        case kept = "kept"
        /// The account was gone by then: it is revoked.
        case abandoned = "abandoned"
        /// A newer one is kept.
        case superseded = "superseded"
        /// The provider issued no token for the code.
        case none = "none"
        /// The code is invalid, or another user's.
        case refused = "refused"
        /// Too many waited, or the process was stopped.
        case lost = "lost"
        /// Something of ours failed, such as the database.
        case failed = "failed"

        init(_ kept: GrantKept) {
            switch kept {
            case .kept: self = .kept
            case .abandoned: self = .abandoned
            case .superseded: self = .superseded
            }
        }
    }

    /// The outcome of a check or a revocation of a token.
    enum Asked: String, CaseIterable {
        /// The token is valid; or it was revoked.
        case done = "done"
        /// The provider rejects the token.
        case refused = "refused"
        /// The provider rejects our client, or isn't configured.
        case notConfigured = "not_configured"
        /// The provider didn't answer, or had an error.
        case unavailable = "unavailable"
        /// The token can't be opened: its key isn't there, or the row was changed.
        case unopened = "unopened"
        /// The provider has no endpoint for it.
        case noEndpoint = "no_endpoint"
        /// Something of ours failed, such as the database.
        case failed = "failed"

        init(_ answer: GrantChecks.Answer) {
            switch answer {
            case .good: self = .done
            case .refused: self = .refused
            case .notConfigured: self = .notConfigured
            case .unavailable: self = .unavailable
            }
        }

        init(_ answer: RevocationAnswer) {
            switch answer {
            case .revoked: self = .done
            case .notConfigured: self = .notConfigured
            case .unavailable: self = .unavailable
            }
        }
    }

    private struct State {
        var backlog: GrantBacklog?
        var stopped: [(provider: String, clientID: String, reason: String)] = []
    }

    private let rows: [ProviderName: Int]
    /// The apps whose tokens are checked.
    private let checkedApps: [(provider: ProviderName, clientID: String)]
    private let kept: CounterFamily
    private let checks: CounterFamily
    private let revocations: CounterFamily
    private let signedOut: CounterFamily
    private let resealed = CounterFamily(
        "vestibule_identity_provider_tokens_resealed_total",
        help: "Tokens of providers that were sealed anew under another key."
    )
    private let givenUp = CounterFamily(
        "vestibule_identity_provider_tokens_given_up_total",
        help: "Tokens of providers that could not be revoked for thirty days and were deleted."
    )
    private let state = Mutex(State())

    /// Metrics for these providers, and for these apps whether their checks are stopped.
    init(
        providers: some Sequence<ProviderName>,
        checkedApps: [(provider: ProviderName, clientID: String)] = []
    ) {
        self.checkedApps = checkedApps
        let names = providers.sorted()
        rows = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        func values(_ outcomes: [String]) -> [[String]] {
            names.flatMap { name in outcomes.map { [name.value, $0] } }
        }
        kept = CounterFamily(
            "vestibule_identity_provider_tokens_total",
            help: "Refresh tokens that came, or could have come, with sign-ins, by what became of them.",
            labels: ["provider", "outcome"],
            values: values(Kept.allCases.map(\.rawValue))
        )
        checks = CounterFamily(
            "vestibule_identity_provider_checks_total",
            help: "Daily checks of refresh tokens, by outcome.",
            labels: ["provider", "outcome"],
            values: values(Asked.allCases.map(\.rawValue))
        )
        revocations = CounterFamily(
            "vestibule_identity_provider_revocations_total",
            help: "Tries to revoke refresh tokens at their providers, by outcome.",
            labels: ["provider", "outcome"],
            values: values(Asked.allCases.map(\.rawValue))
        )
        signedOut = CounterFamily(
            "vestibule_identity_provider_sign_outs_total",
            help: "People who were signed out since their provider refused their refresh token.",
            labels: ["provider"],
            values: names.map { [$0.value] }
        )
    }

    /// Counts a token that came, or could have come.
    func count(_ provider: ProviderName, _ outcome: Kept) { add(kept, Kept.allCases, provider, outcome) }

    /// Counts a check.
    func countCheck(_ provider: ProviderName, _ outcome: Asked) { add(checks, Asked.allCases, provider, outcome) }

    /// Counts a try to revoke. Does nothing for a provider that isn't configured any more.
    func countRevocation(_ provider: ProviderName, _ outcome: Asked) {
        add(revocations, Asked.allCases, provider, outcome)
    }

    /// Counts users who were signed out.
    func countSignedOut(_ provider: ProviderName, _ count: Int) {
        guard let row = rows[provider] else { return }
        signedOut[row].add(UInt64(count))
    }

    /// Counts resealed tokens.
    func countResealed(_ count: Int) { resealed[0].add(UInt64(count)) }

    /// Counts tokens that were given up.
    func countGivenUp(_ count: Int) { givenUp[0].add(UInt64(count)) }

    /// Sets the current backlog and the stopped checks.
    func set(_ backlog: GrantBacklog, stopped: [(provider: String, clientID: String, reason: String)]) {
        state.withLock { $0 = State(backlog: backlog, stopped: stopped) }
    }

    private func add<Outcome: Equatable>(
        _ family: CounterFamily,
        _ outcomes: [Outcome],
        _ provider: ProviderName,
        _ outcome: Outcome
    ) {
        guard let row = rows[provider], let column = outcomes.firstIndex(of: outcome) else { return }
        family[row * outcomes.count + column].add()
    }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        for family in [kept, checks, revocations, signedOut, resealed, givenUp] { family.write(to: &text) }
        let (backlog, stopped) = state.withLock { ($0.backlog, $0.stopped) }
        guard let backlog else { return }
        text.single(
            "vestibule_identity_provider_revocations_waiting",
            .gauge,
            help: "Refresh tokens that are still to be revoked at their providers.",
            Double(backlog.revoking)
        )
        text.single(
            "vestibule_identity_provider_revocations_oldest_seconds",
            .gauge,
            help: "For how long the oldest of them has been waiting.",
            backlog.oldestRevokingSeconds
        )
        text.family(
            "vestibule_identity_provider_tokens_not_current",
            .gauge,
            help: "Tokens that are sealed under a retired key of the vault, and under one that isn't in the folder.",
            [
                ([("key", "retired")], Double(backlog.underRetiredKeys)),
                ([("key", "unknown")], Double(backlog.underUnknownKeys)),
            ]
        )
        text.family(
            "vestibule_identity_provider_checks_stopped",
            .gauge,
            help: "1 where the daily checks of an app are stopped for the reason.",
            checkedApps.flatMap { app in
                GrantChecks.StopReason.allCases.map { reason in
                    let isStopped = stopped.contains {
                        $0.provider == app.provider.value && $0.clientID == app.clientID && $0.reason == reason.rawValue
                    }
                    return (
                        [("provider", app.provider.value), ("client", app.clientID), ("reason", reason.rawValue)],
                        isStopped ? 1 : 0
                    )
                }
            }
        )
    }
}
