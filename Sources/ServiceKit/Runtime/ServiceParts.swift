import RPC

/// What a service consists of.
public struct ServiceParts: Sendable {
    /// The gRPC services to register.
    public let services: [any RPCService]
    /// Work beside the calls, such as an outbox relay: each runs on a loop until it is cancelled at the end. One that
    /// throws ends the process; one that returns has done its work.
    public let background: [@Sendable () async throws -> Void]

    /// The parts.
    public init(services: [any RPCService], background: [@Sendable () async throws -> Void] = []) {
        self.services = services
        self.background = background
    }
}
