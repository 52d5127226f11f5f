/// One numbered step of a schema, embedded in the program. Once released it is never changed: a later one corrects it.
public struct Migration: Sendable, Hashable {
    /// From 1, without gaps.
    public let number: Int
    /// For people.
    public let name: String
    /// Any number of statements, without BEGIN and COMMIT: each migration runs in one transaction.
    public let sql: String
    /// The version that brings it.
    public let release: MinorVersion
    /// What it does to tables that are there before it.
    public let effects: [TableEffect]
    /// The index that this step makes outside of a transaction; nil for every other step.
    let concurrentIndex: String?
    /// The engine that alone runs the statements; nil for all.
    public let engine: PostgresEngine?

    /// A step.
    ///
    /// - Parameters:
    ///   - release: the version that brings it; the one before runs on the tables after it.
    ///   - effects: what it does to tables that are there before it.
    public init(
        number: Int,
        name: String,
        sql: String,
        release: MinorVersion = .first,
        effects: [TableEffect] = []
    ) {
        self.number = number
        self.name = name
        self.sql = sql
        self.release = release
        self.effects = effects
        (concurrentIndex, engine) = (nil, nil)
    }

    /// A step for the schemas of one engine. Those of the others record it without running it: a schema keeps the engine that it was made for.
    public init(number: Int, name: String, only engine: PostgresEngine, sql: String, release: MinorVersion) {
        self.number = number
        self.name = name
        self.sql = sql
        self.release = release
        effects = []
        (concurrentIndex, self.engine) = (nil, engine)
    }

    /// A step that makes an index while others go on writing (`CREATE INDEX CONCURRENTLY`), for tables that are large.
    ///
    /// It can't be in a transaction: if it is cut short it leaves an invalid index, which the next try removes first.
    ///
    /// - Parameters:
    ///   - index: its name, a plain identifier that nothing else in the schema has.
    ///   - definition: what follows `ON`, such as `outbox (phone) WHERE rejected_at IS NULL`.
    ///   - isUnique: whether rows that are there already must differ.
    ///   - release: the version that brings it.
    public init(
        number: Int,
        name: String,
        concurrentIndex index: String,
        on definition: String,
        isUnique: Bool = false,
        release: MinorVersion = .first
    ) {
        self.number = number
        self.name = name
        self.release = release
        let table = definition.prefix { !$0.isWhitespace && $0 != "(" }
        effects = [TableEffect(String(table), .shareUpdateExclusive, .concurrentIndex)]
        sql = "CREATE \(isUnique ? "UNIQUE " : "")INDEX CONCURRENTLY \(index) ON \(definition)"
        (concurrentIndex, engine) = (index, nil)
    }

    /// FNV-1a of the text, 64 bits in hexadecimal: tells an edit by accident, which is all that it is for.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
