import IdentityDomain
import Logging
import Models
import OutgoingHTTP

/// Requests to providers besides their keys: exchanges of codes and checks of access tokens. Shared by the loops, so that a code
/// that comes in on two of them is exchanged once.
struct ProviderQuestions: Sendable {
    /// Exchange codes, for providers with a token endpoint.
    let codes: [ProviderName: any CodeExchanging]
    /// The same for codes that are exchanged after the response of a sign-in. They are counted separately: codes that strangers
    /// make up and send along with a valid ID token don't keep users from signing in with a code.
    let codesAfterAnswers: [ProviderName: any CodeExchanging]
    /// Check access tokens, for providers whose access tokens sign in.
    let accessTokens: [ProviderName: any AccessTokenChecking]
    /// The metrics of the requests.
    let metrics: ExchangeMetrics
    private let endpoints: [ProviderName: TokenEndpoint]
    private let queues: [CodeExchangeQueue]

    /// Requests to these providers. No code is exchanged before ``run()``.
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
        var codesAfterAnswers: [ProviderName: any CodeExchanging] = [:]
        var accessTokens: [ProviderName: any AccessTokenChecking] = [:]
        var endpoints: [ProviderName: TokenEndpoint] = [:]
        var queues: [CodeExchangeQueue] = []
        for (name, configuration) in providers {
            func log(_ question: ExchangeMetrics.Question) -> QuestionLog {
                QuestionLog(provider: name, question: question, metrics: metrics, clock: clock, logger: logger)
            }
            if let endpoint = TokenEndpoint(configuration, http: http, clock: clock) {
                endpoints[name] = endpoint
                func exchange(_ question: ExchangeMetrics.Question) -> CodeExchange {
                    let queue = CodeExchangeQueue(
                        endpoint: endpoint,
                        store: store,
                        log: log(question),
                        clock: clock,
                        randomBytes: randomBytes
                    )
                    queues.append(queue)
                    return CodeExchange(
                        policy: configuration.policy,
                        endpoint: endpoint,
                        queue: queue,
                        keys: keys,
                        clock: clock
                    )
                }
                codes[name] = exchange(.code)
                codesAfterAnswers[name] = exchange(.codeAfterAnswer)
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
        self.codesAfterAnswers = codesAfterAnswers
        self.accessTokens = accessTokens
        self.endpoints = endpoints
        self.queues = queues
    }

    /// Returns whether the provider has a token endpoint and we can authenticate ourselves there.
    func canExchange(_ grant: CodeGrant) -> Bool { endpoints[grant.provider]?.canExchange(grant) ?? false }

    /// Performs exchanges until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for queue in queues {
                tasks.addTask { await queue.run() }
            }
        }
    }
}
