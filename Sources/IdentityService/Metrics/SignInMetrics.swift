import IdentityDomain
import Postgres
import ServiceKit

/// Metrics of sign-ins, by provider, outcome and proof.
final class SignInMetrics: MetricsSource {
    /// The outcome of a sign-in.
    enum Outcome: Hashable {
        /// An account was created, or an existing one was found.
        case newAccount(Proof), knownAccount(Proof)
        /// The provider's token was refused.
        case refused(TokenRejection)
        /// The sign-in was refused for another reason.
        case refusedOtherwise(SignInRefusal)
        /// There is no account, and none was to be created.
        case accountNotFound
        /// Another account is absorbing this account: the app retries.
        case accountHeld
        /// A passkey was refused.
        case passkeyRefused(PasskeyOutcome)
        /// The provider is not configured.
        case providerUnknown
        /// The provider's keys or answers are unavailable.
        case providerUnavailable
        /// The database cannot be reached.
        case databaseUnavailable
        /// Anything else, such as a caller that disconnected.
        case failed

        static let all: [Outcome] =
            // Guests sign in with no provider, and are counted elsewhere.
            Proof.allCases.filter { $0 != .guest }.flatMap { [.newAccount($0), .knownAccount($0)] }
            + [.accountNotFound, .accountHeld, .providerUnknown, .providerUnavailable, .databaseUnavailable, .failed]
            + TokenRejection.allCases.map(Outcome.refused)
            // Its reason is the same as one of a token's.
            + PasskeyOutcome.allCases.map(Outcome.passkeyRefused)
            + SignInRefusal.allCases.filter { $0 != .subjectDiffers }.map(Outcome.refusedOtherwise)

        init(_ error: any Error) {
            switch error {
            case IdentityError.token(let rejection): self = .refused(rejection)
            case IdentityError.tokenAudience: self = .refused(.audience)
            case IdentityError.signIn(.subjectDiffers): self = .refused(.subject)
            case IdentityError.signIn(let refusal): self = .refusedOtherwise(refusal)
            case IdentityError.passkey(let refusal):
                self = PasskeyOutcome(refusal).map(Outcome.passkeyRefused) ?? .failed
            case IdentityError.accountNotFound: self = .accountNotFound
            case IdentityError.link(.absorptionUnderWay): self = .accountHeld
            case IdentityError.providerUnknown: self = .providerUnknown
            case IdentityError.providerUnavailable: self = .providerUnavailable
            case let error as PostgresError where error.isUnavailable: self = .databaseUnavailable
            default: self = .failed
            }
        }

        /// The value of the label: the reason on the wire if there is one.
        var label: String {
            switch self {
            case .newAccount: "new_account"
            case .knownAccount: "known_account"
            case .refused(let rejection): rejection.reason.lowercased()
            case .refusedOtherwise(let refusal): refusal.reason.lowercased()
            case .passkeyRefused(let outcome): outcome.rawValue
            case .accountNotFound: "account_not_found"
            case .accountHeld: "account_held"
            case .providerUnknown: "provider_unknown"
            case .providerUnavailable: "provider_unavailable"
            case .databaseUnavailable: "database_unavailable"
            case .failed: "failed"
            }
        }

        /// How the session was proven; "none" if there is no session.
        var proofLabel: String {
            switch self {
            case .newAccount(let proof), .knownAccount(let proof): proof.rawValue
            case .refused, .refusedOtherwise, .passkeyRefused, .accountNotFound, .accountHeld, .providerUnknown,
                .providerUnavailable,
                .databaseUnavailable, .failed:
                "none"
            }
        }
    }

    /// Why a passkey didn't sign in.
    enum PasskeyOutcome: String, CaseIterable {
        /// The credential could not be read.
        case malformed = "passkey_malformed"
        /// The challenge was too old.
        case challengeExpired = "passkey_challenge_expired"
        /// No account has it.
        case unknown = "passkey_unknown"
        /// The challenge isn't ours, or the signature or what was signed is not valid here.
        case invalid = "passkey_invalid"

        /// The outcome of a refusal; nil for those that no sign-in gets.
        init?(_ refusal: PasskeyRefusal) {
            switch refusal {
            case .malformed: self = .malformed
            case .challengeExpired: self = .challengeExpired
            case .unknown: self = .unknown
            case .invalid, .challengeUnknown: self = .invalid
            case .notEnabled, .rejected, .taken, .notFound, .tooMany, .nameInvalid: return nil
            }
        }
    }

    /// The label for providers that are not configured.
    static let unknownProvider = "unknown"

    /// What a provider says about a user besides the identity.
    private enum Person {
        /// Apple's guess whether the user is a real person, in the order of its numbers; the last one if Apple sent none.
        static let statuses = ["unsupported", "unknown", "likely_real", "untold"]
        /// The kind of the e-mail address.
        static let emails = ["relay", "other", "none"]
    }

    private let family: CounterFamily
    private let people: CounterFamily
    private let providers: [ProviderName: Int]
    private let outcomes: [Outcome: Int]

    /// Counts sign-ins with these providers.
    init(providers: some Sequence<ProviderName>) {
        let names = providers.sorted()
        self.providers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        outcomes = Dictionary(uniqueKeysWithValues: Outcome.all.enumerated().map { ($1, $0) })
        family = CounterFamily(
            "vestibule_identity_sign_ins_total",
            help: "Sign-ins by provider, outcome and what proved them.",
            labels: ["provider", "outcome", "proof"],
            values: (names.map(\.value) + [Self.unknownProvider]).flatMap { name in
                Outcome.all.map { [name, $0.label, $0.proofLabel] }
            }
        )
        people = CounterFamily(
            "vestibule_identity_sign_in_people_total",
            help:
                "Sessions that were opened, by what the provider said of the person: real_user_status, and the e-mail's kind.",
            labels: ["provider", "real_user_status", "email"],
            values: names.flatMap { name in
                Person.statuses.flatMap { status in Person.emails.map { [name.value, status, $0] } }
            }
        )
    }

    /// Counts what the provider said about a user who signed in. This is for information only, and decides no sign-in.
    func countPerson(_ signIn: SignIn) {
        guard let row = providers[signIn.provider] else { return }
        let status = signIn.realUserStatus.map(Int.init) ?? Person.statuses.count - 1
        guard Person.statuses.indices.contains(status) else { return }
        let email = signIn.isPrivateEmail ? 0 : signIn.email == nil ? 2 : 1
        people[(row * Person.statuses.count + status) * Person.emails.count + email].add()
    }

    /// Counts a sign-in; `provider` is nil if it is not configured.
    func count(_ provider: ProviderName?, _ outcome: Outcome) {
        let row = provider.flatMap { providers[$0] } ?? providers.count
        guard let column = outcomes[outcome] else { return }
        family[row * outcomes.count + column].add()
    }

    /// Adds the families.
    func write(to text: inout MetricsText) {
        family.write(to: &text)
        people.write(to: &text)
    }
}
