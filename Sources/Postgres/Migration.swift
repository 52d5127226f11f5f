/// One numbered step of a schema, embedded in the program. Once released it is never changed: a later one corrects it.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let number: Int
    /// For people.
    public let name: String
    /// Any number of statements, without BEGIN and COMMIT: each migration runs in one transaction.
    public let sql: String

    /// A step.
    public init(number: Int, name: String, sql: String) {
        self.number = number
        self.name = name
        self.sql = sql
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
    /// The database has migrations that this program, which is older, doesn't know.
    case databaseIsNewer(number: Int)
    /// A migration contains a statement that ends its transaction.
    case endedTransaction(number: Int)
    /// The name of the schema isn't a plain identifier.
    case invalidSchema(String)
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
        case .databaseIsNewer(let number): "the database has migration \(number), which this older program doesn't know"
        case .endedTransaction(let number): "migration \(number) contains BEGIN, COMMIT or ROLLBACK"
        case .invalidSchema(let name): "\(name) is not a plain schema name"
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
        for (index, migration) in migrations.enumerated() where migration.number != index + 1 {
            throw .misnumbered(expected: index + 1, found: migration.number)
        }
    }

    /// `applied` in ascending order.
    static func pending(
        _ migrations: [Migration],
        applied: [Applied]
    ) throws(MigrationError) -> ArraySlice<Migration> {
        try check(migrations)
        for (index, record) in applied.enumerated() {
            guard record.number == index + 1 else { throw .missing(number: index + 1) }
            guard index < migrations.count else { throw .databaseIsNewer(number: record.number) }
            let migration = migrations[index]
            guard migration.checksum == record.checksum else {
                throw .changed(number: migration.number, name: migration.name)
            }
        }
        return migrations[applied.count...]
    }
}
