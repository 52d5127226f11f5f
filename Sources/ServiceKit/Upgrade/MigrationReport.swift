/// What an upgrade of a service's database would do, and whether it may be done while the service runs.
public struct MigrationReport: Sendable, Hashable, Codable {
    /// Where a schema, or what a program has, is.
    public struct Place: Sendable, Hashable, Codable {
        /// The number of its last migration; 0 for an empty database.
        public let migration: Int
        /// The minor version that brought that migration, such as 0.9; for a program, its own. Nil for an empty database, and for one that has
        /// migrations which this program doesn't know.
        public let version: String?

        /// A place.
        public init(migration: Int, version: String?) {
            self.migration = migration
            self.version = version
        }
    }

    /// What a migration does to a table.
    public struct Table: Sendable, Hashable, Codable {
        /// Its name in the schema.
        public let name: String
        /// PostgreSQL's name of the strongest lock on it.
        public let lock: String
        /// Who waits for that lock: `all`, `writes` or `nobody`.
        public let blocks: String
        /// What is done: `catalog`, `scan`, `rewrite`, `rows`, `concurrent_index` or `validation`.
        public let work: String
        /// Rows by the planner's statistics; nil if they have not been counted.
        public let rows: Int64?
        /// Its size with indexes; nil if an earlier migration of the same upgrade makes it.
        public let totalBytes: Int64?
        /// The bytes that the work reads or writes.
        public let workBytes: Int64
        /// The rate by which they are counted; nil where no time is counted.
        public let bytesPerSecond: Int64?
        /// For how long the lock is held, by those two, and by the work on other tables in the same transaction. Good for the order of magnitude.
        public var lockSeconds: Double

        /// What is done to a table.
        public init(
            name: String,
            lock: String,
            blocks: String,
            work: String,
            rows: Int64?,
            totalBytes: Int64?,
            workBytes: Int64,
            bytesPerSecond: Int64?,
            lockSeconds: Double
        ) {
            self.name = name
            self.lock = lock
            self.blocks = blocks
            self.work = work
            self.rows = rows
            self.totalBytes = totalBytes
            self.workBytes = workBytes
            self.bytesPerSecond = bytesPerSecond
            self.lockSeconds = lockSeconds
        }
    }

    /// A migration that would be applied.
    public struct Step: Sendable, Hashable, Codable {
        /// Its number; 0 for constraints that earlier migrations left to be validated.
        public let number: Int
        /// For people.
        public let name: String
        /// The version that brings it; nil for number 0.
        public let version: String?
        /// The tables that are there before it and that it locks.
        public let tables: [Table]

        /// A step.
        public init(number: Int, name: String, version: String?, tables: [Table]) {
            self.number = number
            self.name = name
            self.version = version
            self.tables = tables
        }
    }

    /// Whether the program may run on the database, after the steps, beside the programs of the version before.
    public enum Verdict: String, Sendable, Hashable, Codable {
        /// There is nothing to do.
        case upToDate = "up_to_date"
        /// The database is empty.
        case new
        /// It may.
        case allowed
        /// The database is newer, by no more than this program runs on.
        case newerDatabase = "newer_database"
        /// Versions between were left out.
        case tooFar = "too_far"
        /// The database is too new for this program.
        case tooNew = "too_new"

        /// Whether programs may be replaced one by one.
        public var isAllowed: Bool { self != .tooFar && self != .tooNew }
    }

    /// The service's name.
    public let service: String
    /// Where the database is.
    public let database: Place
    /// What the program has.
    public let program: Place
    /// Whether it may be done.
    public let verdict: Verdict
    /// The version that is to be started first instead; nil if the verdict allows this one.
    public let versionToStart: String?
    /// What would run, in order.
    public let steps: [Step]

    /// A report.
    public init(
        service: String,
        database: Place,
        program: Place,
        verdict: Verdict,
        versionToStart: String?,
        steps: [Step]
    ) {
        self.service = service
        self.database = database
        self.program = program
        self.verdict = verdict
        self.versionToStart = versionToStart
        self.steps = steps
    }
}
