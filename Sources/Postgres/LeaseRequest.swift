import RPC
import RPCTransport

/// A caller who waits for a connection of its own.
///
/// Unchecked: as `StatementRequest`.
final class LeaseRequest: @unchecked Sendable {
    let deadline: Deadline
    let waitDeadline: Deadline
    private var continuation: UnsafeContinuation<Result<Lease, PostgresError>, Never>?

    init(
        deadline: Deadline,
        waitDeadline: Deadline,
        continuation: UnsafeContinuation<Result<Lease, PostgresError>, Never>
    ) {
        self.deadline = deadline
        self.waitDeadline = waitDeadline
        self.continuation = continuation
    }

    /// Whether its caller waits in a task that was cancelled.
    var isCancelled: Bool { continuation?.isTaskCancelled ?? false }

    func finish(_ result: Result<Lease, PostgresError>) {
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: result)
    }
}
