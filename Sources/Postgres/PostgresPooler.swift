/// What stands between the client and PostgreSQL.
public enum PostgresPooler: String, Sendable, Hashable, CaseIterable {
    /// Nothing but a network. A connection that turns out to lead to a pooler is refused.
    case none
    /// A pooler that gives a session of PostgreSQL to one client for as long as it stays.
    case session
    /// A pooler that gives a session of PostgreSQL to one client for each transaction. Nothing is kept in a session then: no settings, no
    /// named statements, no notifications, no locks.
    case transaction
}

/// How a connection names its statements on the server.
enum StatementNaming: Sendable {
    /// By a prefix and a number.
    case prefix(String)
    /// Not at all: the server keeps none.
    case unnamed

    /// The names for a connection behind a pooler. A pooler in transaction mode that is said to be in session mode must not
    /// lead to a statement that another connection has given the same name, so no two connections share a prefix.
    init(_ pooler: PostgresPooler) {
        switch pooler {
        case .none: self = .prefix("s")
        case .session: self = .prefix("s" + String(UInt64.random(in: 0 ... .max), radix: 36) + "_")
        case .transaction: self = .unnamed
        }
    }

    func name(_ number: UInt64) -> String {
        switch self {
        case .prefix(let prefix): "\(prefix)\(number)"
        case .unnamed: ""
        }
    }
}
