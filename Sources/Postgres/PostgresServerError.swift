internal import CLibPQ

/// What the server said about a failure.
public struct PostgresServerError: Sendable, Hashable {
    /// The code to decide by.
    public var state: SQLState
    /// For people; may quote values, so treat it like them.
    public var message: String
    /// May hold personal data (the key that was taken): never log it.
    public var detail: String?
    /// Advice for the programmer.
    public var hint: String?
    /// The constraint that was violated.
    public var constraint: String?
    /// The schema of the table concerned.
    public var schema: String?
    /// The table concerned.
    public var table: String?
    /// The column concerned.
    public var column: String?
    /// The function of the server's source that raised it.
    var function: String?

    /// Whether a prepared statement's columns have changed since (0A000, as `RevalidateCachedQuery` raises it). The
    /// statement was not begun.
    var isOutdatedStatement: Bool { state == .featureNotSupported && function == "RevalidateCachedQuery" }

    /// A fault made by hand, for fakes in tests.
    public init(state: SQLState, message: String, constraint: String? = nil, table: String? = nil) {
        self.state = state
        self.message = message
        self.constraint = constraint
        self.table = table
    }
}

extension PostgresServerError: CustomStringConvertible {
    /// Code, constraint and table; the message only for classes whose messages name no values.
    public var description: String {
        var text = "SQLSTATE \(state)"
        if let constraint { text += " constraint \(constraint)" }
        if let table { text += " table \(table)" }
        // Data exceptions (22) and integrity violations (23) quote what was stored, P0001 whatever a function says.
        if !["22", "23", "P0"].contains(state.classCode) { text += ": \(message)" }
        return text
    }
}

extension PostgresServerError {
    /// Out of a result with an error in it.
    init(result: OpaquePointer) {
        // The fields' letters are of `postgres_ext.h`; Swift doesn't see character macros.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
        }
        state = SQLState(field("C") ?? "XX000")
        message = field("M") ?? "no message"
        detail = field("D")
        hint = field("H")
        constraint = field("n")
        schema = field("s")
        table = field("t")
        column = field("c")
        function = field("R")
    }
}
