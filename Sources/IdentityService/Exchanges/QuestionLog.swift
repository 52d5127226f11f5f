import IdentityDomain
import Logging
import Models
import Synchronization

/// Counts and logs the outcomes of requests to one provider. They contain no code, token, secret or user.
final class QuestionLog: Sendable {
    /// The least time between two error logs of a configuration error: strangers can trigger it as often as they like.
    static let faultPauseMilliseconds: Int64 = 60_000

    private let provider: ProviderName
    private let question: ExchangeMetrics.Question
    private let metrics: ExchangeMetrics
    private let clock: WallClock
    private let logger: Logger
    private let faultToldAt = Mutex<Int64?>(nil)

    init(
        provider: ProviderName,
        question: ExchangeMetrics.Question,
        metrics: ExchangeMetrics,
        clock: WallClock,
        logger: Logger
    ) {
        self.provider = provider
        self.question = question
        self.metrics = metrics
        self.clock = clock
        self.logger = logger
    }

    /// Counts and logs the outcome of a request.
    ///
    /// - Parameters:
    ///   - client: the audience that the request was for.
    ///   - cause: a word or two from the provider or a library; nothing about the user.
    func tell(_ outcome: ExchangeMetrics.Outcome, client: String, cause: String = "") {
        metrics.count(provider, question, outcome)
        logger.log(
            level: level(of: outcome),
            "provider asked",
            metadata: [
                "provider": "\(provider)", "question": "\(question.rawValue)", "client": "\(client)",
                "outcome": "\(outcome.rawValue)", "cause": "\(cause)",
            ]
        )
    }

    private func level(of outcome: ExchangeMetrics.Outcome) -> Logger.Level {
        switch outcome {
        case .told, .refused, .foreign: .info
        case .repeated, .shed: .debug
        case .unreachable, .unanswered, .unavailable, .failed: .warning
        case .notConfigured, .unreadable: isFirstFaultInAWhile() ? .error : .debug
        }
    }

    private func isFirstFaultInAWhile() -> Bool {
        let now = clock.nowMilliseconds
        return faultToldAt.withLock { toldAt in
            if let last = toldAt, last <= now, now < last + Self.faultPauseMilliseconds { return false }
            toldAt = now
            return true
        }
    }
}
