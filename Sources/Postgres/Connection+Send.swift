internal import CLibPQ
import RPC

extension Connection {
    /// Sends what this turn has placed: reads under one Sync, then the writes that may be committed together under
    /// another, then each other write under its own, then a transaction's statements in their order. `PQpipelineSync`
    /// flushes (libpq 15), so that is one system call for all the reads.
    func flush() {
        guard phase == .ready else { return }
        takeBatch()
        if isLeaving { return flushLeaving() }
        if isLeased { handBackShared() }
        sendDiscards()
        var dropped = sendReads()
        sendSharedWrites(&dropped)
        for request in sending where request.kind == .write && !request.sharesCommit {
            guard let statement = prepare(request, dropped: &dropped) else { continue }
            sendSettings()
            send(request, statement)
            sendSync(for: [request])
        }
        sendTransaction()
        sending.removeAll(keepingCapacity: true)
        if dropped > 0 { finished(dropped) }
        flushOutput()
    }

    /// While a transaction has the connection, nothing of others' is sent on it: it would be committed or undone with the transaction. What
    /// was placed before and waits for its row, and what is to be done again, goes elsewhere.
    private func handBackShared() {
        let shared = sending.filter(\.isShared)
        guard !shared.isEmpty else { return }
        sending.removeAll(where: \.isShared)
        for request in shared { request.attempts -= 1 }
        owner?.requestsLeft(self, shared)
    }

    /// Only a transaction that is open may still say something here; the rest goes elsewhere when the connection closes.
    private func flushLeaving() {
        batch += sending.filter(\.isShared)
        sendTransaction()
        sending.removeAll(keepingCapacity: true)
        flushOutput()
    }

    /// Returns how many of them need no sending any more.
    private func sendReads() -> Int {
        var dropped = 0
        var open = 0
        func endSync() {
            if open > 0 { sendSync(for: []) }
            open = 0
        }
        for request in sending where request.kind == .read {
            guard let statement = prepare(request, dropped: &dropped) else { continue }
            if statement.mayWrite {
                request.kind = .write  // Found by the loop over the writes.
                continue
            }
            if request.isAlone { endSync() }
            if open == 0 { sendSettings() }
            send(request, statement)
            open += 1
            if request.isAlone || request.isBatch || open >= readsPerSyncMax { endSync() }
        }
        endSync()
        return dropped
    }

    /// While a commit is under way they wait for it, and for each other: the server would only come to them afterwards.
    /// So do those whose row another commit of the loop holds. The others lock their rows in the order of their keys.
    private func sendSharedWrites(_ dropped: inout Int) {
        var ready: [StatementRequest] = []
        for request in sending where request.kind == .write && request.sharesCommit {
            if request.isAnswered {
                dropped += 1
            } else if commitsInFlight > 0 || !takeKey(request) {
                batch.append(request)
            } else {
                ready.append(request)
            }
        }
        if ready.count > 1 { ready.sort { left, right in Self.isLockedFirst(left, right) } }
        var open: [StatementRequest] = []
        for request in ready {
            guard let statement = prepare(request, dropped: &dropped) else {
                freeKey(request)
                continue
            }
            if open.isEmpty { sendSettings() }
            send(request, statement)
            open.append(request)
            if open.count >= Self.writesPerSyncMax {
                sendSync(for: open)
                open = []
            }
        }
        if !open.isEmpty { sendSync(for: open) }
    }

    private static func isLockedFirst(_ left: StatementRequest, _ right: StatementRequest) -> Bool {
        guard let left = left.lockKey, let right = right.lockKey else { return false }
        return left < right
    }

    private func sendTransaction() {
        var isOpen = false
        var ignored = 0
        for request in sending where !request.isShared {
            guard let statement = prepare(request, dropped: &ignored) else { continue }
            send(request, statement)
            isOpen = true
        }
        if isOpen { sendSync(for: []) }
    }

    /// The statement of a request; nil, with the request counted as over, if it need not or can't be sent.
    private func prepare(_ request: StatementRequest, dropped: inout Int) -> Statement? {
        // A transaction's BEGIN has no caller, and its other statements keep their order even when timed out.
        if request.isShared && request.isAnswered {
            dropped += 1
            return nil
        }
        let statement = statements.find(request.query)
        guard !statement.isUnsendable else {
            request.finish(.failure(.invalidQuery("too many parameters, or a zero byte in the text")))
            dropped += 1
            return nil
        }
        return statement
    }

    /// Puts a statement into libpq's output, behind its preparation if the server doesn't know it yet.
    ///
    /// A call of libpq that fails means no memory or a dead connection. What follows is then closed as a whole by
    /// `flushOutput`, or the next read; the request counts as sent already, so that no write is sent twice.
    private func send(_ request: StatementRequest, _ statement: Statement) {
        guard let handle else { return }
        request.wasSent = true
        if conflicts.part > 0, !request.isOurs, let conflict = conflicts.statement() {
            return sendConflict(conflict, inPlaceOf: request, statement, handle)
        }
        guard statement.isNamed else { return sendUnnamed(request, statement, handle) }
        if !statement.isPrepared {
            let types = request.query.parameterTypes.map(\.rawValue)
            let sent = PQsendPrepare(handle, statement.name, statement.key.text, Int32(types.count), types)
            guard sent == 1 else { return failSend(request) }
            inFlight.append(.prepare(statement, request))
            statement.isPrepared = true
        }
        let sent = parameters.withPointers(request.query) { values, lengths, formats in
            PQsendQueryPrepared(
                handle,
                statement.name,
                Int32(request.query.parameterCount),
                values,
                lengths,
                formats,
                1
            )
        }
        guard sent == 1 else { return failSend(request) }
        request.statement = statement
        inFlight.append(.execute(request))
    }

    /// For tests: has the server undo a statement, or a commit.
    private func sendConflict(
        _ conflict: String,
        inPlaceOf request: StatementRequest,
        _ statement: Statement,
        _ handle: OpaquePointer
    ) {
        if request.kind == .commit { sendHousekeeping("ROLLBACK") }
        guard PQsendQueryParams(handle, conflict, 0, nil, nil, nil, nil, 1) == 1 else { return failSend(request) }
        request.statement = statement
        inFlight.append(.execute(request))
    }

    /// Puts a statement into libpq's output together with its text, of which the server keeps nothing.
    private func sendUnnamed(_ request: StatementRequest, _ statement: Statement, _ handle: OpaquePointer) {
        let types = request.query.parameterTypes.map(\.rawValue)
        let sent = parameters.withPointers(request.query) { values, lengths, formats in
            PQsendQueryParams(handle, statement.key.text, Int32(types.count), types, values, lengths, formats, 1)
        }
        guard sent == 1 else { return failSend(request) }
        request.statement = statement
        inFlight.append(.execute(request))
    }

    /// Begins what the next Sync will end with the settings that a session would have kept.
    private func sendSettings() {
        if let localSettings { sendHousekeeping(localSettings.text) }
    }

    private func sendHousekeeping(_ text: String) {
        guard let handle, !sendFailed else { return }
        guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else { return sendFailed = true }
        inFlight.append(.housekeeping)
    }

    private func failSend(_ request: StatementRequest) {
        sendFailed = true
        inFlight.append(.sync([request]))
    }

    private func sendSync(for writes: [StatementRequest]) {
        guard let handle, !sendFailed else { return }
        sendFailed = PQpipelineSync(handle) != 1
        inFlight.append(.sync(writes))
        if !writes.isEmpty { commitsInFlight += 1 }
    }

    /// Names that the cache let go are given back to the server.
    private func sendDiscards() {
        let discarded = statements.takeDiscarded()
        for statement in discarded {
            let name = String(decoding: statement.name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            sendHousekeeping("DEALLOCATE \(name)")
        }
        if !discarded.isEmpty { sendSync(for: []) }
    }
}
