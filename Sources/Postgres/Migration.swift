/// One numbered step of a schema, embedded in the program. Once released it is never changed: a later one corrects it.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let number: Int
    /// For people.
    public let name: String
    /// Any number of statements, without BEGIN and COMMIT: each migration runs in one transaction.
    public let sql: String
    /// The index that this step makes outside of a transaction; nil for every other step.
    let concurrentIndex: String?

    /// A step.
    public init(number: Int, name: String, sql: String) {
        self.number = number
        self.name = name
        self.sql = sql
        concurrentIndex = nil
    }

    /// A step that makes an index while others go on writing (`CREATE INDEX CONCURRENTLY`), for tables that are large.
    ///
    /// It can't be in a transaction: if it is cut short it leaves an invalid index, which the next try removes first.
    ///
    /// - Parameters:
    ///   - index: its name, a plain identifier that nothing else in the schema has.
    ///   - definition: what follows `ON`, such as `outbox (phone) WHERE rejected_at IS NULL`.
    ///   - isUnique: whether rows that are there already must differ.
    public init(number: Int, name: String, concurrentIndex index: String, on definition: String, isUnique: Bool = false)
    {
        self.number = number
        self.name = name
        sql = "CREATE \(isUnique ? "UNIQUE " : "")INDEX CONCURRENTLY \(index) ON \(definition)"
        concurrentIndex = index
    }

    /// FNV-1a of the text, 64 bits in hexadecimal: tells an edit by accident, which is all that it is for.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

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
    /// Another program has been migrating this schema for too long.
    case busy
    /// A migration contains a statement that ends its transaction.
    case endedTransaction(number: Int)
    /// The name of the schema isn't a plain identifier.
    case invalidSchema(String)
    /// The name of an index isn't.
    case invalidIndex(String)
    /// A migration was refused by the server, or (number 0) the bookkeeping was.
    case failed(number: Int, name: String, ServerFault)
    /// The database couldn't be reached.
    case unavailable(String)
}

extension MigrationError: CustomStringConvertible {
    /// One line that says what is wrong and what to do.
    public var description: String {
        switch self {
        case .misnumbered(let expected, let found): "migration \(found) stands where \(expected) is due"
        case .changed(let number, let name):
            "migration \(number) (\(name)) was changed after it had been applied; add a new one instead"
        case .missing(let number): "migration \(number) was never applied though later ones were"
        case .behind(let number, let name): "the schema lacks migration \(number) (\(name)): run `migrate`"
        case .busy: "another program has been migrating this schema for too long"
        case .endedTransaction(let number): "migration \(number) contains BEGIN, COMMIT or ROLLBACK"
        case .invalidSchema(let name): "\(name) is not a plain schema name"
        case .invalidIndex(let name): "\(name) is not a plain name of an index"
        case .failed(0, _, let fault): "the migrations' table: \(fault.state) \(fault.message)"
        case .failed(let number, let name, let fault):
            "migration \(number) (\(name)) failed: \(fault.state) \(fault.message)"
        case .unavailable(let reason): "database unavailable: \(reason)"
        }
    }
}

/// Which migrations are to be applied, decided from what the program and the database have.
enum MigrationPlan {
    struct Applied: Hashable {
        let number: Int
        let checksum: String
    }

    /// The numbers must run from 1 without gaps.
    static func check(_ migrations: [Migration]) throws(MigrationError) {
        for (index, migration) in migrations.enumerated() {
            guard migration.number == index + 1 else {
                throw .misnumbered(expected: index + 1, found: migration.number)
            }
            if let name = migration.concurrentIndex, !isPlain(name) { throw .invalidIndex(name) }
        }
    }

    /// Whether a name is a plain identifier, which needs no quotes.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= 63 else { return false }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == 0x5F }
        return !isDigit(first) && name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// What is to be applied. Migrations that the program doesn't know, since it is older than the database, are none of
    /// its business: the version before runs on the tables after them.
    ///
    /// - Parameter applied: in ascending order.
    static func pending(
        _ migrations: [Migration],
        applied: [Applied]
    ) throws(MigrationError) -> ArraySlice<Migration> {
        try check(migrations)
        for (index, record) in applied.enumerated() {
            guard record.number == index + 1 else { throw .missing(number: index + 1) }
            guard index < migrations.count else { continue }
            let migration = migrations[index]
            guard migration.checksum == record.checksum else {
                throw .changed(number: migration.number, name: migration.name)
            }
        }
        return migrations[min(applied.count, migrations.count)...]
    }
}
