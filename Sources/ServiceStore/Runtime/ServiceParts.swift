import RPC
import ServiceLifecycle

/// What a service consists of.
public struct ServiceParts: Sendable {
    /// The gRPC services to register.
    public let services: [any RPCService]
    /// What runs beside the calls, each on an event loop: an outbox relay, or `BackgroundWork`. It is told to stop when no
    /// call is in flight any more, the last of the list first. One that throws ends the process; one that returns has done
    /// its work.
    public let background: [any Service]

    /// The parts.
    public init(services: [any RPCService], background: [any Service] = []) {
        self.services = services
        self.background = background
    }
}
