import RPC

/// A writer that waits for room on its call, or for a stream. Loop thread only, but for `run`.
///
/// States: new → waiting → over; or cancelled before it waits, since the cancellation may be the first to reach the loop.
final class WriterWait: @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only, which each entry checks or goes to.

    private let loop: EventLoop
    /// Resumed once, with whether the task was cancelled; there while it waits.
    private var continuation: UnsafeContinuation<Bool, Never>?
    private var isCancelled = false

    private init(loop: EventLoop) { self.loop = loop }

    /// Waits until `resume` is called on what `begin` is handed on the loop. Throws CANCELLED if the task is cancelled
    /// before. Any executor.
    static func run(on loop: EventLoop, _ begin: @escaping @Sendable (WriterWait) -> Void) async throws(RPCError) {
        let wait = WriterWait(loop: loop)
        let isCancelled = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if loop.isCurrent {
                    wait.begin(continuation, begin)
                } else {
                    loop.execute { wait.begin(continuation, begin) }
                }
            }
        } onCancel: {
            loop.execute { wait.cancel() }
        }
        if isCancelled { throw .writerCancelled }
    }

    private func begin(_ continuation: UnsafeContinuation<Bool, Never>, _ begin: (WriterWait) -> Void) {
        loop.preconditionIsCurrent()
        guard !isCancelled else { return continuation.resume(returning: true) }
        self.continuation = continuation
        begin(self)
    }

    private func cancel() {
        loop.preconditionIsCurrent()
        isCancelled = true
        finish()
    }

    private func finish() {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: isCancelled)
    }

    /// Whether it still waits.
    var isWaiting: Bool { continuation != nil }

    /// There is room, or there never will be. Nothing happens if it is over.
    func resume() {
        loop.preconditionIsCurrent()
        finish()
    }
}
