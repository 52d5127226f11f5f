import RPC
import ServiceLifecycle

/// What a service consists of.
public struct ServiceParts: Sendable {
    /// The gRPC services to register.
    public let services: [any RPCService]
    /// What runs beside the calls, each on an event loop: a `WorkRunner`, or `BackgroundWork`. It is asked to stop when no
    /// call is in flight any more, the last of the list first. One that throws ends the process; one that returns has done
    /// its work.
    public let background: [any Service]
    /// Reads again what the service has read of files, at SIGHUP.
    public let reread: @Sendable () async -> Void
    /// Called when the server is about to drain: ends the calls that would last for ever.
    public let beginDrain: @Sendable () -> Void
    /// What each call passes behind the log and the list of callers.
    public let interceptors: [any ServerInterceptor]

    /// The parts.
    public init(
        services: [any RPCService],
        background: [any Service] = [],
        reread: @escaping @Sendable () async -> Void = {},
        beginDrain: @escaping @Sendable () -> Void = {},
        interceptors: [any ServerInterceptor] = []
    ) {
        self.services = services
        self.background = background
        self.reread = reread
        self.beginDrain = beginDrain
        self.interceptors = interceptors
    }
}
