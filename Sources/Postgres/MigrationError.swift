/// Why a schema was not brought up to date. What had been applied before stays applied.
public enum MigrationError: Error, Sendable, Hashable {
    /// The program's own migrations don't count 1, 2, 3, …
    case misnumbered(expected: Int, found: Int)
    /// An applied migration's text is another now.
    case changed(number: Int, name: String)
    /// An earlier migration is not in the database though a later one is.
    case missing(number: Int)
    /// The schema lacks a migration that this program needs.
    case behind(number: Int, name: String)
    /// The schema is of a version so new that this program can't run on it; the oldest program that can.
    case tooNew(oldest: MinorVersion)
    /// Another program has been migrating this schema for too long.
    case busy
    /// A migration contains a statement that ends its transaction.
    case endedTransaction(number: Int)
    /// The name of the schema isn't a plain identifier.
    case invalidSchema(String)
    /// The name of an index isn't.
    case invalidIndex(String)
    /// A migration was refused by the server, or (number 0) the bookkeeping was.
    case failed(number: Int, name: String, PostgresServerError)
    /// The database couldn't be reached.
    case unavailable(String)
    /// There is only a pooler in transaction mode, behind which no session can be had.
    case needsSession
}

extension MigrationError: CustomStringConvertible {
    /// One line that says what is wrong and what to do.
    public var description: String {
        switch self {
        case .misnumbered(let expected, let found): "migration \(found) stands where \(expected) is due"
        case .changed(1, let name):
            "migration 1 (\(name)) is not the one that made this schema: a database of a version before 0.9.0 can't be upgraded. Give "
                + "this version a new database; on a development machine `make clean-data` deletes the old one"
        case .changed(let number, let name):
            "migration \(number) (\(name)) was changed after it had been applied; add a new one instead"
        case .missing(let number): "migration \(number) was never applied though later ones were"
        case .behind(let number, let name): "the schema lacks migration \(number) (\(name)): run `migrate`"
        case .tooNew(let oldest):
            "the schema is newer than this program (\(MinorVersion.current)) can run on: \(oldest) is the oldest version that can; start it instead"
        case .busy: "another program has been migrating this schema for too long"
        case .endedTransaction(let number): "migration \(number) contains BEGIN, COMMIT or ROLLBACK"
        case .invalidSchema(let name): "\(name) is not a plain schema name"
        case .invalidIndex(let name): "\(name) is not a plain name of an index"
        case .failed(0, _, let fault): "the migrations' table: \(fault.state) \(fault.message)"
        case .failed(let number, let name, let fault):
            "migration \(number) (\(name)) failed: \(fault.state) \(fault.message)"
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .needsSession:
            "migrations need a session of PostgreSQL, which a pooler in transaction mode doesn't give: set VESTIBULE_DATABASE_DIRECT_HOST"
        }
    }
}
