/// How much a transaction sees of others (PostgreSQL manual, "Transaction Isolation").
public enum TransactionIsolation: Sendable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see one moment.
    case repeatableRead
    /// As if one transaction ran after the other.
    case serializable
    /// All statements see one moment and write nothing. Conflicts with no other transaction, also where all other transactions are serializable.
    case readOnly

    var begin: Query {
        switch self {
        case .readCommitted: "BEGIN"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        case .readOnly: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}
