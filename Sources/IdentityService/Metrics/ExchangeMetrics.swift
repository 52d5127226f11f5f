import IdentityDomain
import OutgoingHTTP
import ServiceKit

/// Metrics of requests to providers for sign-ins: exchanges of codes and checks of access tokens.
final class ExchangeMetrics: MetricsSource {
    /// The kind of request.
    enum Question: String, CaseIterable {
        /// The exchange of a code.
        case code = "code"
        /// The exchange, after the response, of a code that came with a sign-in that something else proves.
        case codeAfterAnswer = "code_after_answer"
        /// The check of an access token.
        case accessToken = "access_token"
    }

    /// The outcome of a request.
    enum Outcome: String, CaseIterable {
        /// The provider gave the tokens or claims.
        case told = "told"
        /// An earlier answer was found, without asking.
        case repeated = "repeated"
        /// It says that the code or token is invalid.
        case refused = "refused"
        /// The token was issued to another app.
        case foreign = "foreign"
        /// It rejects our credentials, or the endpoint is wrong.
        case notConfigured = "not_configured"
        /// There was no connection: the request wasn't sent.
        case unreachable = "unreachable"
        /// The request was sent, and no complete response came in time.
        case unanswered = "unanswered"
        /// It answered that it is unavailable.
        case unavailable = "unavailable"
        /// The response can't be read.
        case unreadable = "unreadable"
        /// The request wasn't sent: there were too many requests, or too many that the provider refused.
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

    /// Metrics for these providers.
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

    /// Counts a request.
    func count(_ provider: ProviderName, _ question: Question, _ outcome: Outcome) {
        guard let row = providers[provider], let place = Question.allCases.firstIndex(of: question),
            let column = Outcome.allCases.firstIndex(of: outcome)
        else { return }
        family[(row * Question.allCases.count + place) * Outcome.allCases.count + column].add()
    }

    /// Adds the family.
    func write(to text: inout MetricsText) { family.write(to: &text) }
}
