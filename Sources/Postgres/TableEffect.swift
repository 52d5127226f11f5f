/// What a migration does to a table that is there before it: which lock it takes, and what it does with the rows.
///
/// A migration declares its effects; a test runs every migration and compares them with PostgreSQL's `pg_locks` and statistics.
public struct TableEffect: Sendable, Hashable {
    /// The strongest lock on the table, by its name in PostgreSQL's manual, section 13.3.1, from the weakest on. It is held until the
    /// transaction ends.
    public enum Lock: String, Sendable, Hashable, Codable, CaseIterable {
        /// Reads and writes of other rows go on.
        case rowExclusive = "ROW EXCLUSIVE"
        /// Reads and writes go on; other changes of the schema and vacuum wait.
        case shareUpdateExclusive = "SHARE UPDATE EXCLUSIVE"
        /// Writes wait.
        case share = "SHARE"
        /// Writes wait.
        case shareRowExclusive = "SHARE ROW EXCLUSIVE"
        /// Writes wait.
        case exclusive = "EXCLUSIVE"
        /// Reads and writes wait.
        case accessExclusive = "ACCESS EXCLUSIVE"
    }

    /// What takes the time.
    public enum Work: String, Sendable, Hashable, Codable {
        /// Nothing: only PostgreSQL's catalog changes.
        case catalog
        /// All rows are read.
        case scan
        /// The table is written anew, with its indexes.
        case rewrite
        /// Rows are written.
        case rows
        /// An index is made beside reads and writes, outside of the migration's transaction. The table is read twice.
        case concurrentIndex = "concurrent_index"
        /// A constraint that was added `NOT VALID` is validated behind the migrations: all rows are read.
        case validation

        /// Whether the work is done outside of the migration's transaction, so that its other locks aren't held for as long.
        public var isOutsideTransaction: Bool { self == .concurrentIndex || self == .validation }
    }

    /// The table's name in the schema.
    public let table: String
    /// The lock.
    public let lock: Lock
    /// The work.
    public let work: Work

    /// An effect.
    public init(_ table: String, _ lock: Lock, _ work: Work) {
        self.table = table
        self.lock = lock
        self.work = work
    }

    /// Columns, constraints or triggers are added or dropped, without a look at the rows.
    public static func altered(_ table: String) -> TableEffect { TableEffect(table, .accessExclusive, .catalog) }

    /// Another table refers to it from now on, by a foreign key.
    public static func referred(_ table: String) -> TableEffect { TableEffect(table, .shareRowExclusive, .catalog) }

    /// Its new constraints are validated behind the migrations.
    public static func validated(_ table: String) -> TableEffect {
        TableEffect(table, .shareUpdateExclusive, .validation)
    }
}
