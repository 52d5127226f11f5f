import IdentityDomain
import Logging
import Models
import OutgoingHTTP

/// What providers are asked besides their keys: exchanges of codes, and whose access tokens are. Shared by the loops, so that a
/// code that comes on two of them is exchanged once.
struct ProviderQuestions: Sendable {
    /// By what codes are exchanged, for providers with a token endpoint.
    let codes: [ProviderName: any CodeExchanging]
    /// By what is asked whose an access token is, for providers whose access tokens sign in.
    let accessTokens: [ProviderName: any AccessTokenChecking]
    /// How the questions went.
    let metrics: ExchangeMetrics
    private let queues: [CodeExchangeQueue]

    /// The questions to these providers. No code is exchanged before ``run()``.
    init(
        _ providers: [ProviderName: ProviderConfiguration],
        http: any OutgoingClient,
        store: IdentityStore,
        keys: ProviderKeys,
        clock: WallClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        logger: Logger
    ) {
        let metrics = ExchangeMetrics(providers: providers.keys)
        self.metrics = metrics
        var codes: [ProviderName: any CodeExchanging] = [:]
        var accessTokens: [ProviderName: any AccessTokenChecking] = [:]
        var queues: [CodeExchangeQueue] = []
        for (name, configuration) in providers {
            func log(_ question: ExchangeMetrics.Question) -> QuestionLog {
                QuestionLog(provider: name, question: question, metrics: metrics, clock: clock, logger: logger)
            }
            if let endpoint = TokenEndpoint(configuration, http: http, clock: clock) {
                let queue = CodeExchangeQueue(
                    endpoint: endpoint,
                    store: store,
                    log: log(.code),
                    clock: clock,
                    randomBytes: randomBytes
                )
                queues.append(queue)
                codes[name] = CodeExchange(
                    policy: configuration.policy,
                    endpoint: endpoint,
                    queue: queue,
                    keys: keys,
                    clock: clock
                )
            }
            accessTokens[name] = AccessTokenCheck(
                configuration,
                http: http,
                store: store,
                log: log(.accessToken),
                clock: clock
            )
        }
        self.codes = codes
        self.accessTokens = accessTokens
        self.queues = queues
    }

    /// Performs exchanges until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for queue in queues {
                tasks.addTask { await queue.run() }
            }
        }
    }
}
