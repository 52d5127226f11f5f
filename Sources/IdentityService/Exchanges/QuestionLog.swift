import IdentityDomain
import Logging
import Models
import Synchronization

/// Counts and logs how questions to one provider went. No code, token, secret or person is in it.
final class QuestionLog: Sendable {
    /// How often a fault of the configuration is logged as an error at most: strangers can make it show as often as they like.
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

    /// Tells what came of a question.
    ///
    /// - Parameters:
    ///   - client: the audience that it was asked for.
    ///   - cause: a word or two of the provider's or of a library; nothing of the person.
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
