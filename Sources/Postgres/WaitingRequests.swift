import RPC

/// The statements and transactions that wait for a connection of a loop, each kind in the order of arrival. `PoolState` bounds them.
struct WaitingRequests {
    private var statements = FIFO<StatementRequest>()
    private var leases = FIFO<LeaseRequest>()

    var isEmpty: Bool { statements.isEmpty && leases.isEmpty }

    mutating func append(_ request: StatementRequest) { statements.append(request) }
    mutating func append(_ request: LeaseRequest) { leases.append(request) }

    mutating func nextStatement() -> StatementRequest? { statements.removeFirst() }
    mutating func nextLease() -> LeaseRequest? { leases.removeFirst() }

    /// Answers all that the client is closed.
    mutating func refuseAll() {
        for request in statements.removeAll(where: { _ in true }) { request.finish(.failure(.closed)) }
        for request in leases.removeAll(where: { _ in true }) { request.finish(.failure(.closed)) }
    }

    /// Removes those that have waited too long, were cancelled or were answered.
    mutating func removeGone(_ now: Deadline) -> (statements: [StatementRequest], leases: [LeaseRequest]) {
        guard !isEmpty else { return ([], []) }
        return (
            statements.removeAll { $0.waitDeadline < now || $0.isCancelled || $0.isAnswered },
            leases.removeAll { $0.waitDeadline < now || $0.isCancelled }
        )
    }
}
