import RPC
import RPCTransport

/// Deadlines: what is sent, what waits and what has a connection is looked at some times a second, while there is any.
extension LoopPool {
    func armSweep() {
        guard sweepTimer == nil else { return }
        sweepTimer = loop.schedule(after: Self.sweepInterval) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        sweepTimer = nil
        let now = Deadline.now()
        keyed.giveUp(now)
        sweepWaiters(now)
        for (slot, connection) in connections.enumerated() {
            guard let connection, !connection.isIdle || connection.phase == .connecting else { continue }
            let stalledSweeps = connection.sweep(now: now)
            guard stalledSweeps > 0, connection.phase == .ready else { continue }
            state.stalled(slot)
            if stalledSweeps == Self.sweepsUntilMove, state.waiting == 0, state.hasAlternative(to: slot) {
                connection.takeHeldUpReads().forEach(submit)
            }
        }
        for lease in leases where lease.deadline < now && lease.connection.isIdle {
            lease.connection.close("a transaction took too long")
        }
        grow()
        let isBusy = connections.contains { connection in
            guard let connection else { return false }
            return !connection.isIdle || connection.phase == .connecting
        }
        if isBusy || !leases.isEmpty || !waiting.isEmpty { armSweep() }
    }

    private func sweepWaiters(_ now: Deadline) {
        let gone = waiting.removeGone(now)
        if !gone.statements.isEmpty { state.waitersLeft(.shared, count: gone.statements.count) }
        if !gone.leases.isEmpty { state.waitersLeft(.lease, count: gone.leases.count) }
        let error = { [self] in waitError($0, $1, now) }
        for request in gone.statements { request.finish(.failure(error(request.deadline, request.isCancelled))) }
        for request in gone.leases { request.finish(.failure(error(request.deadline, request.isCancelled))) }
    }

    private func waitError(_ deadline: Deadline, _ isCancelled: Bool, _ now: Deadline) -> PostgresError {
        if isCancelled { return .cancelled(outcomeUnknown: false) }
        guard state.hasReadySlot else { return .unavailable(failures.last) }
        return deadline < now ? .timeout(outcomeUnknown: false) : .poolExhausted
    }
}
