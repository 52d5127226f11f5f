internal import CLibPQ
import RPC

extension Connection {
    /// Takes the results that have come and answers their requests; returns how many shared ones are over.
    ///
    /// In pipeline mode each statement gives its result and then NULL; a Sync gives its result and no NULL. Nothing is
    /// sent from in here: libpq stands between two statements then, and retries go through the next flush.
    func takeResults() -> Int {
        var over = 0
        var nullsInARow = 0
        while phase == .ready, let handle, !inFlight.isEmpty {
            guard PQisBusy(handle) == 0 else { break }
            guard let result = PQgetResult(handle) else {
                if hasHeadResult {
                    hasHeadResult = false
                    inFlight.discardFirst()
                }
                nullsInARow += 1
                // One NULL more can stand before a Sync; a third would be a pipeline that we no longer understand.
                if nullsInARow > 2 { close("the results are out of step") }
                continue
            }
            nullsInARow = 0
            guard let head = inFlight.first else { break }
            over += take(result, head)
        }
        return over
    }

    /// Takes the notifications that have arrived, and reports them once. Their payload is ignored.
    func takeNotifications() {
        var count = 0
        while phase == .ready, let handle, let notification = PQnotifies(handle) {
            PQfreemem(notification)
            count += 1
        }
        if count > 0 { whenNotified?() }
    }

    private func take(_ result: OpaquePointer, _ head: Item) -> Int {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            hasHeadResult = true
            guard case .execute(let request) = head else {
                PQclear(result)
                return 0
            }
            return succeed(request, result)
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            guard case .sync(let writes) = head else {
                close("the results are out of step")
                return 0
            }
            inFlight.discardFirst()
            if writes.isEmpty { return 0 }
            commitsInFlight -= 1
            if commitsInFlight == 0 && !batch.isEmpty { requestFlush() }
            return commit(writes)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            hasHeadResult = true
            return abort(head)
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            return fail(head, result)
        default:
            // COPY and the like, which the extended protocol gives no way to answer here.
            PQclear(result)
            close("the statement's kind of result is not supported")
            return 0
        }
    }

    private func succeed(_ request: StatementRequest, _ result: OpaquePointer) -> Int {
        if request.kind == .commit, let tag = PQcmdStatus(result), String(cString: tag) == "ROLLBACK" {
            // The server answers COMMIT of a failed transaction so.
            PQclear(result)
            request.finish(.failure(.server(.failedTransaction)))
            return 0
        }
        let rows = Rows(storage: ResultStorage(result))
        if request.kind == .write {
            request.heldRows = rows  // Committed, or not, by its Sync.
            return 0
        }
        request.finish(.success(rows))
        return request.isShared ? 1 : 0
    }

    /// The Sync of writes has come: their transaction is committed or undone. Those that were undone because of a
    /// neighbour are done again, alone.
    private func commit(_ writes: [StatementRequest]) -> Int {
        writes.forEach(freeKey)
        let isUndone = writes.contains { $0.failure != nil || $0.wantsRetry }
        var over = 0
        for write in writes {
            if write.wantsRetry || (isUndone && write.failure == nil) {
                write.wantsRetry = false
                write.failure = nil
                write.isAlone = true
                resend(write)
                continue
            }
            over += 1
            if let failure = write.failure {
                write.finish(.failure(failure))
            } else if let rows = write.heldRows {
                write.finish(.success(rows))
            } else {
                write.finish(.failure(.connectionLost(outcomeUnknown: true)))
            }
        }
        return over
    }

    private func fail(_ head: Item, _ result: OpaquePointer) -> Int {
        let fault = PostgresServerError(result: result)
        owner?.refusedWrites?.count(fault.state)
        // 'V' is the severity that is never translated (`PG_DIAG_SEVERITY_NONLOCALIZED`).
        let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))).map { String(cString: $0) }
        if severity == nil || severity == "FATAL" || severity == "PANIC" {
            close(severity == nil ? errorMessage : fault.description)
            return 0
        }
        switch head {
        case .sync(let writes):
            // The commit itself failed; the Sync's own result follows.
            for write in writes {
                if writes.count > 1 || mayBeDoneAgain(write, fault) {
                    write.wantsRetry = true
                } else {
                    write.failure = .server(fault)
                }
            }
            return 0
        case .housekeeping:
            hasHeadResult = true
            // What follows the settings is undone with them. A DEALLOCATE that fails has nothing behind it.
            if localSettings != nil { close("the settings of a transaction were refused: \(fault)") }
            return 0
        case .prepare(let statement, let request):
            hasHeadResult = true
            statement.isPrepared = false
            statements.remove(statement)
            statement.failure = fault
            request.failure = .server(fault)
            return 0
        case .execute(let request):
            hasHeadResult = true
            return fail(request, fault)
        }
    }

    private func fail(_ request: StatementRequest, _ reported: PostgresServerError) -> Int {
        var fault = reported
        guard let statement = request.statement else { preconditionFailure("a request was sent without a statement") }
        // Both mean that the statement was not begun: the server doesn't know it (its preparation failed for another
        // request), or its result has changed its columns since (a migration).
        let isUnknown = fault.state == .invalidStatementName
        if isUnknown, statement.isPrepared, pooler == .session {
            close("another session got a statement of this one: the pooler isn't in session mode")
            return 0
        }
        if isUnknown || fault.isOutdatedStatement {
            if isUnknown { statement.isPrepared = false }
            statements.remove(statement)
            if isUnknown, let failure = statement.failure {
                fault = failure
            } else if request.isShared, request.attempts < attemptsMax {
                request.isAlone = true
                if request.kind == .write { request.wantsRetry = true } else { resend(request) }
                return 0
            }
        }
        if fault.state == .readOnlyTransaction { isLeaving = true }
        if request.isShared, mayBeDoneAgain(request, fault) {
            request.isAlone = true
            if request.kind == .write { request.wantsRetry = true } else { resend(request) }
            return 0
        }
        if request.kind == .write {
            request.failure = .server(fault)
            return 0
        }
        request.finish(.failure(.server(fault)))
        return request.isShared ? 1 : 0
    }

    /// Whether it was undone for a reason that another try may not meet: another transaction got in its way, or this is
    /// not the server for it, and the connection about to be left.
    private func mayBeDoneAgain(_ request: StatementRequest, _ fault: PostgresServerError) -> Bool {
        guard request.attempts < attemptsMax, !request.isAnswered else { return false }
        return fault.state == .readOnlyTransaction || PostgresError.server(fault).isRetryableConflict
    }

    /// A statement before this one, under the same Sync, has failed.
    private func abort(_ head: Item) -> Int {
        switch head {
        case .prepare(let statement, _):
            statement.isPrepared = false
            statements.remove(statement)
            return 0
        case .execute(let request):
            return abort(request)
        case .housekeeping, .sync:
            return 0
        }
    }

    private func abort(_ request: StatementRequest) -> Int {
        if let failure = request.failure {
            // Its own preparation failed.
            if request.kind == .write { return 0 }
            request.finish(.failure(failure))
            return request.isShared ? 1 : 0
        }
        if request.kind == .write && request.sharesCommit {
            request.wantsRetry = true
            return 0
        }
        guard request.kind == .read else {
            request.failure = .server(.failedTransaction)
            if request.kind != .write { request.finish(.failure(.server(.failedTransaction))) }
            return 0
        }
        guard request.attempts < attemptsMax else {
            request.finish(.failure(.connectionLost(outcomeUnknown: false)))
            return 1
        }
        request.isAlone = true
        resend(request)
        return 0
    }

    /// Sends a request again, which still counts as one that is under way here.
    private func resend(_ request: StatementRequest) {
        request.heldRows = nil
        submit(request)
    }
}

extension PostgresServerError {
    /// What the server says to a statement in a failed transaction.
    static let failedTransaction = PostgresServerError(
        state: .inFailedTransaction,
        message: "the transaction has failed before"
    )
}
