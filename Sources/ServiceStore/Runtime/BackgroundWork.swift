import Logging
import RPCTransport
import ServiceLifecycle
import Synchronization

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
            // Cancelled work ends with many errors: `CancellationError`, or an error of the database or of a call.
            guard Task.isShuttingDownGracefully else { throw error }
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

/// Whether the process was asked to stop.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}

/// A service that ends when it is asked to and not before, though its work may be done: a `ServiceGroup` that is shutting one
/// down takes another that ends meanwhile for a fault, and cancels all of them. Work that fails then is logged, and no reason
/// to cut the calls that are being drained.
struct UntilStopped: Service {
    let service: any Service
    let isStopping: StopFlag
    let logger: Logger

    func run() async throws {
        do {
            try await service.run()
        } catch {
            guard isStopping.isSet else { throw error }
            logger.warning("failed while stopping", metadata: ["error": .string("\(error)")])
        }
        try? await gracefulShutdown()
    }
}
