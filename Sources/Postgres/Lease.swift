import RPC
import RPCTransport

/// A connection while it belongs to one transaction.
///
/// Unchecked: what changes is touched on the loop's thread only; the rest is constant.
final class Lease: @unchecked Sendable {
    let loop: EventLoop
    let deadline: Deadline
    let connection: Connection
    private let pool: LoopPool
    private var hasBegun = false
    private var isOver = false

    init(pool: LoopPool, connection: Connection, deadline: Deadline) {
        self.pool = pool
        self.loop = pool.loop
        self.connection = connection
        self.deadline = deadline
    }

    /// Sends a statement, the first one behind the transaction's beginning in the same round trip. Loop's thread.
    func submit(_ request: StatementRequest, begin: Query) {
        if isOver { return request.finish(.failure(.invalidQuery("the transaction is over"))) }
        if request.deadline.hasPassed { return request.finish(.failure(.timeout(outcomeUnknown: false))) }
        guard connection.phase == .ready else { return request.lose() }
        if !hasBegun {
            hasBegun = true
            send(begin)
            if let settings = connection.localSettings { send(settings) }
        }
        connection.submit(request)
    }

    /// Sends a statement of our own.
    private func send(_ query: Query) {
        connection.submit(
            StatementRequest(
                query: query,
                kind: .inTransaction,
                deadline: deadline,
                waitDeadline: deadline,
                continuation: nil
            )
        )
    }

    /// Sends COMMIT or ROLLBACK, if anything was begun. The connection is given back after its answer. Loop's thread.
    func end(_ request: StatementRequest) {
        if isOver { return request.finish(.failure(.invalidQuery("the transaction is over"))) }
        isOver = true
        request.isWaitedForAlways = true
        // Nothing was begun, so there is nothing to end.
        guard hasBegun else { return request.finish(.success(.none)) }
        guard connection.phase == .ready else { return request.lose() }
        connection.submit(request)
    }

    /// Has the server stop what it still does for the transaction, whose callers wait no more, and calls back once: with
    /// false if the connection can't be used again. Loop's thread.
    func stopStatement(_ done: @escaping (Bool) -> Void) {
        guard !isOver, connection.hasStatement else { return done(true) }
        pool.canceller.cancel(connection, done)
    }

    /// The connection is given back. Loop's thread.
    func giveBack(isClean: Bool) { pool.end(self, isClean: isClean) }
}
