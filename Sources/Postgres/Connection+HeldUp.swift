extension Connection {
    /// Takes off the reads that a slow statement holds up. It is under the first Sync, but which of those there it is
    /// is unknown, since the server sends their results together: if there are several, all of them go.
    func takeHeldUpReads() -> [StatementRequest] {
        var firstSync: [StatementRequest] = []
        var behind: [StatementRequest] = []
        var isFirst = true
        inFlight.forEach { item in
            switch item {
            case .execute(let request):
                if isFirst { firstSync.append(request) } else { behind.append(request) }
            case .sync: isFirst = false
            case .prepare, .housekeeping: break
            }
        }
        return ((firstSync.count > 1 ? firstSync : []) + behind)
            .filter { $0.kind == .read && !$0.isAnswered && $0.moves < StatementRequest.movesMax }
            .map { $0.movedAway() }
    }
}
