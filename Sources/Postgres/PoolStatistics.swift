import Dispatch
import RPCTransport
import Synchronization

/// How one loop's connections to the database are doing.
public struct PoolStatistics: Sendable, Hashable {
    /// The loop's place in its group.
    public var loop = 0
    /// Connections that take statements, those in transactions included.
    public var connectionsReady = 0
    /// Of these, those that a transaction has to itself.
    public var connectionsLeased = 0
    /// Connections that are being made, or will be after a pause.
    public var connectionsPending = 0
    /// Statements that were placed on a connection and not answered, transactions' own not counted.
    public var pipelineDepth = 0
    /// Statements and transactions that wait for room on a connection.
    public var waiters = 0
    /// Statements outside of transactions that were asked for, since the start.
    public var statements: UInt64 = 0
    /// Transactions that were begun, since the start.
    public var transactions: UInt64 = 0
    /// Statements and transactions that were turned away because too many waited, since the start.
    public var refused: UInt64 = 0
    /// Connections that were lost or could not be made, since the start.
    public var connectionsLost: UInt64 = 0
}

extension PostgresClient {
    /// What the pools of all loops say of themselves. Blocks its thread until they have, at most for the time given; a
    /// loop that is busy for longer is left out. Not on a loop.
    public func statistics(waitingAtMost limit: DispatchTimeInterval) -> [PoolStatistics] {
        let answers = Answers()
        for pool in pools {
            pool.loop.execute {
                answers.list.withLock { $0.append(pool.value.statistics) }
                answers.arrived.signal()
            }
        }
        let end = DispatchTime.now() + limit
        for _ in pools where answers.arrived.wait(timeout: end) == .timedOut { break }
        return answers.list.withLock { $0 }.sorted { $0.loop < $1.loop }
    }
}

/// Kept by the closures on the loops too, one of which may come late.
private final class Answers: Sendable {
    let list = Mutex<[PoolStatistics]>([])
    let arrived = DispatchSemaphore(value: 0)
}
