import RPCTransport
import ServiceKit

/// The channels to the services: one for each connection that a loop has to a service.
struct GRPCChannels: Sendable {
    private let identity: [RPCChannel]
    private let profile: [RPCChannel]

    /// Makes the channels, which end with the group's loops. They don't connect yet. Throws `TransportError` if a certificate or a
    /// target can't be used.
    init(_ plan: LoadPlan, group: EventLoopGroup) throws {
        guard case .grpc(let identity, let profile, let tls, let serverName) = plan.target else {
            preconditionFailure("a plan without gRPC has no channels")
        }
        var configuration = ChannelConfiguration(tls: tls)
        configuration.serverName = serverName
        configuration.connectionsPerAddressMax = 1
        configuration.waitingCallsMax = LoadPlan.workersMax
        // The server's errors must be visible. Calls that it certainly did not begin are still retried, as by any client: a
        // draining server is not an error.
        configuration.retry.attemptsMax = 1
        let count = plan.connectionsPerThread
        func channels(_ target: String) throws -> [RPCChannel] {
            try (0..<count).map { _ in
                try RPCChannel(target: target, group: group, configuration: configuration)
            }
        }
        self.identity = try channels(identity.description)
        self.profile = try channels(profile.description)
    }

    /// The target of a worker: workers use the connections in turn.
    func target(_ number: Int, timeout: Duration) -> GRPCTarget {
        let index = number % identity.count
        return GRPCTarget(identity: identity[index], profile: profile[index], timeout: timeout)
    }
}
