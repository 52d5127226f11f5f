import RPC

/// A statement from the moment that it is asked for until it is answered: its caller's continuation, and how far it has come.
///
/// Unchecked: made by the caller, handed to the loop once, and touched on the loop's thread only from then on.
final class StatementRequest: @unchecked Sendable {
    /// What may be done with it when things go wrong.
    enum Kind {
        /// Shares a Sync; may be sent again.
        case read
        /// Committed by its Sync, which it has to itself or shares with other writes; never sent again once it may have
        /// been done.
        case write
        /// Inside a transaction: undone with it.
        case inTransaction
        /// The end of a transaction: done or not, nobody may know.
        case commit
    }

    let query: Query
    let deadline: Deadline
    var kind: Kind
    /// When waiting for a connection ends.
    var waitDeadline: Deadline
    /// Whether libpq was given it, on the connection where it is now.
    var wasSent = false
    /// The statement that it was sent as, on the connection where it is now.
    var statement: Statement?
    /// How often it was given to a connection.
    var attempts = 0
    /// Whether it is sent again because another statement under its Sync failed. Then it gets a Sync of its own.
    var isAlone = false
    /// Whether it is worth a Sync of its own, so that its answer comes before the next one's.
    var isBatch = false
    /// The row that it locks, if it may be committed with others.
    let lockKey: LockKey?
    /// Whether it is a write that is committed with others.
    var sharesCommit: Bool { lockKey != nil && !isAlone }
    /// Whether the loop's other statements on its row wait for it.
    var holdsKey = false
    /// Whether its caller waits even in a task that was cancelled: what a transaction's end comes to must be known.
    var isWaitedForAlways = false
    /// How often it was moved to another connection because a slow statement held this one up.
    var moves = 0
    /// How often it may be moved. What was moved gets a Sync of its own. The first time the slow statement may be among what
    /// moves, and even be sent first; the second time it stays behind. There is no third time, since under load
    /// everything is slow.
    static let movesMax = 2
    /// Whether it is to be sent again once its Sync is over.
    var wantsRetry = false
    /// A write's rows, held until the Sync says that they are committed.
    var heldRows: Rows?
    /// Why a write failed, held until the Sync as well.
    var failure: PostgresError?

    /// Unsafe continuations: a checked one costs 26 ns more a call, and `finish` is the only place that resumes,
    /// which it does once, because it takes the continuation away.
    private var continuation: UnsafeContinuation<Result<Rows, PostgresError>, Never>?
    /// Called instead, for a request of our own. On the loop's thread.
    var whenDone: ((Result<Rows, PostgresError>) -> Void)?

    init(
        query: Query,
        kind: Kind,
        deadline: Deadline,
        waitDeadline: Deadline,
        lockKey: LockKey? = nil,
        continuation: UnsafeContinuation<Result<Rows, PostgresError>, Never>?
    ) {
        self.query = query
        self.kind = kind
        self.deadline = deadline
        self.waitDeadline = waitDeadline
        self.lockKey = lockKey
        self.continuation = continuation
    }

    /// Whether its caller has been answered (or never wanted an answer).
    var isAnswered: Bool { continuation == nil && whenDone == nil }

    /// Whether it is a BEGIN, a ROLLBACK or settings.
    var isOurs: Bool { kind == .inTransaction && (continuation == nil || query.text == "ROLLBACK") }

    /// Whether the pool counts it as a load on its connection.
    var isShared: Bool { kind == .read || kind == .write }

    /// Answers the caller, the first time; later calls do nothing.
    func finish(_ result: Result<Rows, PostgresError>) {
        if let continuation {
            self.continuation = nil
            continuation.resume(returning: result)
        } else if let whenDone {
            self.whenDone = nil
            whenDone(result)
        }
    }

    /// A second request for the same caller, to be sent elsewhere; this one is answered as far as its caller goes.
    func movedAway() -> StatementRequest {
        let copy = StatementRequest(
            query: query,
            kind: kind,
            deadline: deadline,
            waitDeadline: deadline,
            continuation: continuation
        )
        copy.whenDone = whenDone
        whenDone = nil
        copy.attempts = attempts
        copy.isAlone = true
        copy.moves = moves + 1
        continuation = nil
        return copy
    }

    /// Whether sending it may have changed something, with nobody knowing.
    private var isOutcomeUnknown: Bool { wasSent && (kind == .write || kind == .commit) }

    /// Answers its caller if the deadline has passed or the caller's task was cancelled. The statement goes on, if it was
    /// sent: a cancel request could hit another statement on the connection.
    func giveUp(_ now: Deadline) {
        if deadline < now {
            finish(.failure(.timeout(outcomeUnknown: isOutcomeUnknown)))
        } else if isCancelled {
            finish(.failure(.cancelled(outcomeUnknown: isOutcomeUnknown)))
        }
    }

    /// Whether its caller waits in a task that was cancelled.
    var isCancelled: Bool { !isWaitedForAlways && continuation?.isTaskCancelled ?? false }

    /// The connection broke and it can't be sent again.
    func lose() {
        finish(.failure(failure ?? .connectionLost(outcomeUnknown: isOutcomeUnknown)))
    }
}
