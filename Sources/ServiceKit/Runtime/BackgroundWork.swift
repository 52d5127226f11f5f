import RPCTransport
import ServiceLifecycle

/// Work beside the calls, as a `Service`: a closure that runs until its task is cancelled, which a graceful shutdown does.
/// One that returns before has done its work.
public struct BackgroundWork: Service {
    private let work: @Sendable () async throws -> Void

    /// Work that the closure does.
    public init(_ work: @escaping @Sendable () async throws -> Void) { self.work = work }

    /// Does the work. Throws what it throws, but for the end that a shutdown brought about.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(work)
        } catch {
            guard error is CancellationError, Task.isShuttingDownGracefully else { throw error }
        }
    }
}

/// A service whose tasks prefer an event loop.
struct LoopService: Service {
    let service: any Service
    let loop: EventLoop

    func run() async throws {
        try await withTaskExecutorPreference(loop) { try await service.run() }
    }
}
