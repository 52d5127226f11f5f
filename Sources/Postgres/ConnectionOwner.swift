/// Who a connection works for. All calls come on the loop's thread, and none out of a call into the connection but
/// `connectionClosed`.
protocol ConnectionOwner: AnyObject {
    func connectionOpened(_ connection: Connection)
    /// Exactly once. The requests are those that were not answered.
    func connectionClosed(_ connection: Connection, reason: String, orphans: [StatementRequest])
    /// So many shared requests are over; none if just the end of an answer arrived, and the connection has nothing to do now.
    func requestsFinished(_ connection: Connection, count: Int)
    /// Shared requests that were placed on it and not sent, since it belongs to a transaction now: another one has to take them.
    func requestsLeft(_ connection: Connection, _ requests: [StatementRequest])
    /// The connection has something to send at the end of the turn.
    func connectionWantsFlush(_ connection: Connection)
    /// Counts what the server refuses to write; nil where nobody asks.
    var refusedWrites: RefusedWrites? { get }
    /// Reserves a row for one statement of the loop's; false if it is reserved.
    func takeKey(_ key: LockKey) -> Bool
    /// The statement is committed or undone.
    func freeKey(_ key: LockKey)
}
