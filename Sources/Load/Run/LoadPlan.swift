import RPCTransport
import ServiceKit

/// The plan of a run, from the command's checked options.
public struct LoadPlan: Sendable {
    /// The target of the calls.
    public enum Target: Sendable, Hashable {
        /// The services by gRPC; with TLS if there is a configuration.
        case grpc(identity: AddressList, profile: AddressList, tls: TLSConfiguration?, serverName: String?)
        /// The gateway's JSON over HTTP: the URL without a path.
        case edge(url: String)
    }

    /// The calls.
    public var scenario: Scenario
    /// Their target.
    public var target: Target
    /// The provider simulator's URL.
    public var simulatorURL: String
    /// The client id in the provider's tokens.
    public var clientID: String
    /// Calls per second of an open loop; nil for a closed loop, in which each worker's next call follows its last.
    public var ratePerSecond: Int?
    /// The number of workers: the maximum of calls in flight.
    public var workerCount: Int
    /// Connections to each address.
    public var connectionCount: Int
    /// The number of threads.
    public var threadCount: Int
    /// Accounts to prepare, at least one per worker.
    public var accountCount: Int
    /// The file of sessions to use; without one, accounts are prepared. See ``SessionsFile``.
    public var sessionsFile: String?
    /// The first of the profiles' phone numbers, E.164 without the plus; nil for a random one.
    public var firstPhone: Int64?
    /// Provider tokens to prepare for sign-ins.
    public var tokenCount: Int
    /// Whether sign-ins also send the provider's authorization code, which identity exchanges after its response.
    public var sendsCodes: Bool
    /// The maximum of calls that wait for a worker in an open loop.
    public var queueMax: Int
    /// The length of the warm-up.
    public var warmUp: Duration
    /// The length of the measured time.
    public var duration: Duration
    /// The timeout of a call.
    public var timeout: Duration

    /// The maximum of accounts, and of tokens.
    public static let preparedMax = 1_000_000
    /// The maximum of workers.
    public static let workersMax = 100_000
    /// The maximum of connections to one address.
    public static let connectionsMax = 10_000
    /// The maximum of threads.
    public static let threadsMax = 256
    /// The maximum length of a run, and of a warm-up.
    public static let durationMax: Duration = .seconds(86_400)

    /// A plan with the defaults: a closed loop of 32 workers on one thread, for 10 s after a warm-up of 2 s.
    public init(scenario: Scenario, target: Target, simulatorURL: String) {
        self.scenario = scenario
        self.target = target
        self.simulatorURL = simulatorURL
        clientID = "example.apps.googleusercontent.com"
        workerCount = 32
        connectionCount = 4
        threadCount = 1
        accountCount = 32
        tokenCount = 0
        sendsCodes = false
        queueMax = 10_000
        warmUp = .seconds(2)
        duration = .seconds(10)
        timeout = .seconds(5)
    }

    /// Connections of each thread to each address. All threads have the same number, so there may be a few more in all.
    var connectionsPerThread: Int { (connectionCount + threadCount - 1) / threadCount }

    /// Provider tokens for the sign-ins of the run: in an open loop their number is known.
    public var tokenCountNeeded: Int {
        guard scenario.round.contains(.signIn) else { return 0 }
        guard let ratePerSecond else { return Self.closedLoopTokens }
        let calls = Double(ratePerSecond) * ((warmUp + duration) / .seconds(1))
        // Each thread has its own part of the round and of the tokens, so one may need a token more than another.
        let needed = scenario.signInCount(amongCalls: Int(min(calls.rounded(.up), 1e9))) + 2 * threadCount
        return min(needed, Self.preparedMax)
    }
    private static let closedLoopTokens = 2000

    /// The loop in reports.
    public var loopText: String {
        if let ratePerSecond { return "open loop, \(ratePerSecond) calls/s, at most \(workerCount) in flight" }
        return "closed loop, \(workerCount) workers"
    }

    /// The target in reports; without secrets.
    public var targetText: String {
        switch target {
        case .grpc(let identity, let profile, let tls, _):
            let kind = tls == nil ? "gRPC" : tls?.certificateChainFile == nil ? "gRPC, TLS" : "gRPC, mutual TLS"
            return scenario.callsProfile ? "\(kind), \(identity) and \(profile)" : "\(kind), \(identity)"
        case .edge(let url): return "JSON, \(url)"
        }
    }
}
