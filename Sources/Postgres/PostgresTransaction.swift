import RPC
import RPCTransport

/// An open transaction. Usable only inside the closure of `PostgresClient.withTransaction`. Any thread.
public final class PostgresTransaction: Sendable {
    private let lease: Lease
    private let begin: Query
    /// Nil where nothing is traced.
    private let tracing: StatementTracing?

    init(lease: Lease, begin: Query, tracing: StatementTracing?) {
        self.lease = lease
        self.begin = begin
        self.tracing = tracing
    }

    /// Runs a statement. After one has failed the server refuses all others, so rethrow the first error.
    @discardableResult
    public func query(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError) -> Rows {
        if Task.isCancelled { throw .cancelled(outcomeUnknown: false) }
        let deadline = deadline.map { min($0, lease.deadline) } ?? lease.deadline
        return try await submit(query, .inTransaction, deadline) { [lease, begin] request in
            lease.submit(request, begin: begin)
        }.get()
    }

    /// The same as `query`: inside a transaction all statements are alike.
    @discardableResult
    public func execute(_ query: Query, deadline: Deadline? = nil) async throws(PostgresError) -> Rows {
        try await self.query(query, deadline: deadline)
    }

    func commit() async throws(PostgresError) {
        let outcome = await submit("COMMIT", .commit, lease.deadline, finish)
        switch outcome {
        case .success: await giveBack(isClean: true)
        case .failure(let error):
            // An answer of the server, even a refusal, ends the transaction; without one nothing is certain.
            await giveBack(isClean: error.sqlState != nil)
            throw error
        }
    }

    /// Undoes everything, and first ends what the server still works on for a caller who has gone. If the server doesn't
    /// say so soon, the connection is closed, which does the same.
    func rollback() async {
        guard await stopStatement() else { return await giveBack(isClean: false) }
        let outcome = await submit("ROLLBACK", .inTransaction, .after(Self.rollbackLimit), finish)
        if case .success = outcome { await giveBack(isClean: true) } else { await giveBack(isClean: false) }
    }

    /// Whether the connection is fit for a ROLLBACK.
    private func stopStatement() async -> Bool {
        let lease = lease
        return await withUnsafeContinuation { continuation in
            if lease.loop.isCurrent { return lease.stopStatement { continuation.resume(returning: $0) } }
            lease.loop.execute { lease.stopStatement { continuation.resume(returning: $0) } }
        }
    }

    private static let rollbackLimit: Duration = .seconds(1)

    private var finish: @Sendable (StatementRequest) -> Void {
        { [lease] request in lease.end(request) }
    }

    private func giveBack(isClean: Bool) async {
        let lease = lease
        if lease.loop.isCurrent { return lease.giveBack(isClean: isClean) }
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            lease.loop.execute {
                lease.giveBack(isClean: isClean)
                continuation.resume()
            }
        }
    }

    /// Unsafe continuation: as in `StatementRequest`, which resumes it once.
    private func submit(
        _ query: Query,
        _ kind: StatementRequest.Kind,
        _ deadline: Deadline,
        _ take: @escaping @Sendable (StatementRequest) -> Void
    ) async -> Result<Rows, PostgresError> {
        let loop = lease.loop
        let span = tracing?.start(query.text)
        let result: Result<Rows, PostgresError> = await withUnsafeContinuation { continuation in
            let request = StatementRequest(
                query: query,
                kind: kind,
                deadline: deadline,
                waitDeadline: deadline,
                continuation: continuation
            )
            if loop.isCurrent { take(request) } else { loop.execute { take(request) } }
        }
        span?.end(result)
        return result
    }
}
