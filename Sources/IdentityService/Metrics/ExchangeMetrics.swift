import IdentityDomain
import OutgoingHTTP
import ServiceKit

/// How questions to providers went that sign-ins make us ask: exchanges of codes, and whose access tokens are.
final class ExchangeMetrics: MetricsSource {
    /// What was asked.
    enum Question: String, CaseIterable {
        /// What a code gives.
        case code = "code"
        /// What a code gives that came with a sign-in which something else proves, behind the answer.
        case codeAfterAnswer = "code_after_answer"
        /// Whose an access token is.
        case accessToken = "access_token"
    }

    /// What came of it.
    enum Outcome: String, CaseIterable {
        /// The provider told.
        case told = "told"
        /// What it told before was found, without asking.
        case repeated = "repeated"
        /// It says that the code or token is not good.
        case refused = "refused"
        /// The token was issued to another app.
        case foreign = "foreign"
        /// It doesn't take our credentials, or the endpoint is another one.
        case notConfigured = "not_configured"
        /// There was no connection: it wasn't asked.
        case unreachable = "unreachable"
        /// It was asked, and didn't answer in time or to the end.
        case unanswered = "unanswered"
        /// It answered that it can't.
        case unavailable = "unavailable"
        /// The answer makes no sense.
        case unreadable = "unreadable"
        /// It wasn't asked: too many questions, or too many that were refused.
        case shed = "shed"
        /// Something of ours failed, such as the database.
        case failed = "failed"

        init(_ error: OutgoingHTTPError) {
            switch error.cause {
            case .bodyTooLarge: self = .unreadable
            case .url: self = .notConfigured
            case .overloaded: self = .shed
            case .timeout, .connection, .addressNotPublic, .cancelled:
                self = error.mayHaveBeenSent ? .unanswered : .unreachable
            }
        }
    }

    private let providers: [ProviderName: Int]
    private let family: CounterFamily

    /// Counts questions to these providers.
    init(providers: some Sequence<ProviderName>) {
        let names = providers.sorted()
        self.providers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        family = CounterFamily(
            "vestibule_identity_provider_questions_total",
            help: "Codes and access tokens that providers were asked about, by what came of it.",
            labels: ["provider", "question", "outcome"],
            values: names.flatMap { name in
                Question.allCases.flatMap { question in
                    Outcome.allCases.map { [name.value, question.rawValue, $0.rawValue] }
                }
            }
        )
    }

    /// Counts one.
    func count(_ provider: ProviderName, _ question: Question, _ outcome: Outcome) {
        guard let row = providers[provider], let place = Question.allCases.firstIndex(of: question),
            let column = Outcome.allCases.firstIndex(of: outcome)
        else { return }
        family[(row * Question.allCases.count + place) * Outcome.allCases.count + column].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
