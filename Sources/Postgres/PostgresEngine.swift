/// What kind of database the server is.
public enum PostgresEngine: String, Sendable, Hashable, CaseIterable {
    /// PostgreSQL itself.
    case postgresql
    /// A distributed database that speaks PostgreSQL's protocol: each transaction is serializable, and one that met another is undone and
    /// done again (40001, 40P01).
    case distributed

    /// The isolation of statements outside of transactions, as PostgreSQL calls it; nil to leave it to the server.
    var isolation: String? { self == .distributed ? "serializable" : nil }

    /// How often a transaction is tried again at least; without a bound its deadline ends it.
    var retriesMin: Int { self == .distributed ? .max : 0 }

    /// How long a transaction may take at most, so that the readers of a log know how late its rows may become visible; nil for no other limit
    /// than its deadline.
    var transactionLimit: Duration? { self == .distributed ? .seconds(30) : nil }

    /// How often a statement outside of transactions is sent at most: once, again because of a neighbour, again on another connection.
    var attemptsMax: Int { self == .distributed ? 12 : 4 }

    /// The beginning of a transaction.
    func begin(_ isolation: TransactionIsolation) -> Query {
        self == .distributed && isolation != .readOnly ? TransactionIsolation.serializable.begin : isolation.begin
    }
}

/// For tests: statements and commits that the server undoes as if another transaction had been in the way.
struct InjectedConflicts: Sendable {
    /// The part of statements, 0 to 1.
    let part: Double

    /// Nil for a statement that is to be sent as it is; else what to send in its place.
    func statement() -> String? {
        guard .random(in: 0..<1) < part else { return nil }
        return Bool.random() ? Self.serialization : Self.deadlock
    }

    private static let serialization = raise("40001")
    private static let deadlock = raise("40P01")
    private static func raise(_ state: String) -> String {
        "DO $$BEGIN RAISE EXCEPTION 'injected by a test' USING ERRCODE = '\(state)'; END$$"
    }
}
