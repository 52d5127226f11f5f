/// Why a statement, a transaction or a connection failed.
public enum PostgresError: Error, Sendable {
    /// The server refused the statement. Its effects, and those of its transaction, are undone.
    ///
    /// Indirect, since a fault is large, and every result of a statement would be as large with it.
    indirect case server(PostgresServerError)
    /// No connection could be had in time, and why not. The statement was not sent.
    case unavailable(String)
    /// The deadline passed. `outcomeUnknown` only for a write, or a commit, that had been sent.
    case timeout(outcomeUnknown: Bool)
    /// Too many callers wait for a connection, or this one waited longer than the limit. Not sent.
    case poolExhausted
    /// The connection broke. `outcomeUnknown` only for a write, or a commit, that had been sent.
    case connectionLost(outcomeUnknown: Bool)
    /// A value was not of the type that was asked for.
    case decoding(CellDecodingError)
    /// The task was cancelled. `outcomeUnknown` only for a write that had been sent.
    case cancelled(outcomeUnknown: Bool)
    /// The client was shut down.
    case closed
    /// The statement can't be sent: too many parameters, or a zero byte in its text.
    case invalidQuery(String)

    /// The server's code, if it was the server that refused.
    public var sqlState: SQLState? {
        if case .server(let fault) = self { fault.state } else { nil }
    }

    /// The constraint that was violated, if one was.
    public var constraint: String? {
        if case .server(let fault) = self { fault.constraint } else { nil }
    }

    /// Whether a unique or primary key of this name was violated.
    public func isUniqueViolation(of constraint: String) -> Bool {
        sqlState == .uniqueViolation && self.constraint == constraint
    }

    /// Whether another transaction got in the way (or a migration changed a prepared statement's columns), so that the same
    /// transaction may succeed when tried again. All of it is undone.
    public var isRetryableConflict: Bool {
        guard case .server(let fault) = self else { return false }
        return fault.state == .serializationFailure || fault.state == .deadlockDetected || fault.isOutdatedStatement
    }

    /// Whether nobody knows if the statement, a write or a commit, took effect. Only an operation that has the effect of
    /// one however often it is done may be tried again then. False for `.cancelled`: nobody waits for the answer.
    public var isOutcomeUnknown: Bool {
        switch self {
        case .timeout(let unknown), .connectionLost(let unknown): unknown
        case .server, .unavailable, .poolExhausted, .decoding, .cancelled, .closed, .invalidQuery: false
        }
    }

    /// Whether the server takes no writes: its disk is full (53100), or it only reads (25006).
    public var isRefusedWrite: Bool { sqlState == .diskFull || sqlState == .readOnlyTransaction }

    /// Whether the database, not the statement, is at fault, so that the same may succeed later. Unless
    /// ``isOutcomeUnknown``, the caller may retry then.
    public var isUnavailable: Bool {
        switch self {
        case .server(let fault):
            isRetryableConflict || fault.state.meansServerUnavailable || fault.state == .queryCanceled
                || fault.state == .lockNotAvailable || fault.state == .readOnlyTransaction
        case .unavailable, .timeout, .poolExhausted, .connectionLost, .closed: true
        case .decoding, .cancelled, .invalidQuery: false
        }
    }
}

/// A value of a result that didn't have the type that was asked for.
public struct CellDecodingError: Sendable, Hashable {
    /// The column's place, from zero.
    public var column: Int
    /// What was asked for and what was there, without the value.
    public var reason: String

    /// A fault in a column.
    public init(column: Int, reason: String) {
        self.column = column
        self.reason = reason
    }
}

extension PostgresError: CustomStringConvertible {
    /// For the log: no values, so nothing personal and no secret.
    public var description: String {
        switch self {
        case .server(let fault): fault.description
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .timeout(let unknown): unknown ? "statement timed out, outcome unknown" : "statement timed out"
        case .poolExhausted: "no database connection free in time"
        case .connectionLost(let unknown):
            unknown ? "database connection lost, outcome unknown" : "database connection lost"
        case .decoding(let fault): "column \(fault.column): \(fault.reason)"
        case .cancelled(let unknown): unknown ? "cancelled, outcome unknown" : "cancelled"
        case .closed: "the database client is shut down"
        case .invalidQuery(let reason): "invalid query: \(reason)"
        }
    }
}
