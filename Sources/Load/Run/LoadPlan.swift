import RPCTransport
import ServiceKit

/// What a run shall do, checked: what the command's options come to.
public struct LoadPlan: Sendable {
    /// Where the calls go.
    public enum Target: Sendable, Hashable {
        /// The services by gRPC; with TLS if there is a configuration.
        case grpc(identity: AddressList, profile: AddressList, tls: TLSConfiguration?, serverName: String?)
        /// The gateway's JSON over HTTP: the URL without a path.
        case edge(url: String)
    }

    /// Which calls.
    public var scenario: Scenario
    /// Where to.
    public var target: Target
    /// The provider simulator's URL.
    public var simulatorURL: String
    /// The client id in the provider's tokens.
    public var clientID: String
    /// Calls a second of an open loop; nil for a closed one, in which each worker calls again when it was answered.
    public var ratePerSecond: Int?
    /// Calls in flight at most.
    public var workerCount: Int
    /// Connections to each address.
    public var connectionCount: Int
    /// Threads that call.
    public var threadCount: Int
    /// Accounts that are prepared, at least one a worker.
    public var accountCount: Int
    /// The file with the sessions to call with, in whose place accounts are prepared without one; see ``SessionsFile``.
    public var sessionsFile: String?
    /// The first of the numbers that profiles take, one after the other, E.164 without the plus; nil for a random one.
    public var firstPhone: Int64?
    /// Provider tokens that are prepared for sign-ins.
    public var tokenCount: Int
    /// Whether sign-ins send the provider's authorization code too, which identity exchanges behind its answer.
    public var sendsCodes: Bool
    /// Calls of an open loop that may wait for a worker.
    public var queueMax: Int
    /// How long calls are made before measuring begins.
    public var warmUp: Duration
    /// How long is measured.
    public var duration: Duration
    /// How long a call may take.
    public var timeout: Duration

    /// The most accounts, and the most tokens.
    public static let preparedMax = 1_000_000
    /// The most workers.
    public static let workersMax = 100_000
    /// The most connections to one address.
    public static let connectionsMax = 10_000
    /// The most threads.
    public static let threadsMax = 256
    /// The longest run, and the longest warm-up.
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

    /// Connections that each thread has to each address: all threads have as many, so there may be a few more in all.
    var connectionsPerThread: Int { (connectionCount + threadCount - 1) / threadCount }

    /// Provider tokens for the sign-ins of the run: in an open loop it is known how many there will be.
    public var tokenCountNeeded: Int {
        guard scenario.round.contains(.signIn) else { return 0 }
        guard let ratePerSecond else { return Self.closedLoopTokens }
        let calls = Double(ratePerSecond) * ((warmUp + duration) / .seconds(1))
        // Each thread has its own part of the round and of the tokens: one may need a token more than another.
        let needed = scenario.signInCount(amongCalls: Int(min(calls.rounded(.up), 1e9))) + 2 * threadCount
        return min(needed, Self.preparedMax)
    }
    private static let closedLoopTokens = 2000

    /// As reports call the loop.
    public var loopText: String {
        if let ratePerSecond { return "open loop, \(ratePerSecond) calls/s, at most \(workerCount) in flight" }
        return "closed loop, \(workerCount) workers"
    }

    /// As reports call the target; without anything secret.
    public var targetText: String {
        switch target {
        case .grpc(let identity, let profile, let tls, _):
            let kind = tls == nil ? "gRPC" : tls?.certificateChainFile == nil ? "gRPC, TLS" : "gRPC, mutual TLS"
            return scenario.callsProfile ? "\(kind), \(identity) and \(profile)" : "\(kind), \(identity)"
        case .edge(let url): return "JSON, \(url)"
        }
    }
}
