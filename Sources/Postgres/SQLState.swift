/// A five-character code of PostgreSQL's, class first (PostgreSQL manual, appendix A).
public struct SQLState: Sendable, Hashable, CustomStringConvertible {
    /// The five characters.
    public let code: String

    /// A state by its code.
    public init(_ code: String) { self.code = code }

    /// The code.
    public var description: String { code }

    /// The first two characters, which name a family of conditions.
    public var classCode: Substring { code.prefix(2) }

    /// 23502
    public static let notNullViolation = SQLState("23502")
    /// 23503
    public static let foreignKeyViolation = SQLState("23503")
    /// 23505
    public static let uniqueViolation = SQLState("23505")
    /// 23514
    public static let checkViolation = SQLState("23514")
    /// 23P01
    public static let exclusionViolation = SQLState("23P01")
    /// 25006: the server takes no writes; it was the primary and is a standby now.
    public static let readOnlyTransaction = SQLState("25006")
    /// 25P02: the transaction has failed before, and takes nothing but its end.
    public static let inFailedTransaction = SQLState("25P02")
    /// 26000: no prepared statement of this name.
    public static let invalidStatementName = SQLState("26000")
    /// 40001: try the whole transaction again.
    public static let serializationFailure = SQLState("40001")
    /// 40P01: try the whole transaction again.
    public static let deadlockDetected = SQLState("40P01")
    /// 42501
    public static let insufficientPrivilege = SQLState("42501")
    /// 42601
    public static let syntaxError = SQLState("42601")
    /// 42P01
    public static let undefinedTable = SQLState("42P01")
    /// 42P04
    public static let duplicateDatabase = SQLState("42P04")
    /// 0A000
    public static let featureNotSupported = SQLState("0A000")
    /// 55P03: a lock could not be had in time. Nothing was done.
    public static let lockNotAvailable = SQLState("55P03")
    /// 53100: no room on the server's disk.
    public static let diskFull = SQLState("53100")
    /// 57014: `statement_timeout`, or cancelled by someone.
    public static let queryCanceled = SQLState("57014")
    /// 57P01
    public static let adminShutdown = SQLState("57P01")
    /// 57P02
    public static let crashShutdown = SQLState("57P02")
    /// 57P03: starting up or shutting down.
    public static let cannotConnectNow = SQLState("57P03")

    /// Whether the server, not the statement, is at fault: it has no room (53), it is going down or coming up (57P),
    /// or it lost a connection (08).
    var meansServerUnavailable: Bool { classCode == "53" || classCode == "08" || code.hasPrefix("57P") }
}
