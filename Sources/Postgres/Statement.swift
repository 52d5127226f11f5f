/// A prepared statement of one connection. Loop's thread only.
final class Statement {
    /// Its name on the server, ending in zero. Never used twice on a connection.
    let name: [CChar]
    let key: StatementKey
    /// Whether it may change or lock something, and so gets a Sync of its own even when called as a read.
    let mayWrite: Bool
    /// Whether it can't be put into the protocol: too many parameters, or a zero byte, at which libpq would take the
    /// text to end.
    let isUnsendable: Bool
    /// Whether the server was told.
    var isPrepared = false
    /// Why the server would not prepare it: the answer for all who were sent behind the one that tried.
    var failure: ServerFault?
    /// The cache's clock at its last use.
    var lastUsed: UInt64 = 0

    init(number: UInt64, key: StatementKey, parameterCount: Int) {
        name = Array("s\(number)".utf8CString)
        self.key = key
        mayWrite = StatementText.mayWrite(key.text)
        isUnsendable = parameterCount > Query.parametersMax || key.text.utf8.contains(0)
    }
}

/// What makes two queries the same statement. The hash covers text and parameter types and was made with the text.
struct StatementKey: Hashable {
    let hash: UInt64
    let text: String

    static func == (left: StatementKey, right: StatementKey) -> Bool {
        left.hash == right.hash && left.text == right.text
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// The statements that a connection has prepared: at most so many, the least recently used one makes room.
struct StatementCache {
    private var table: [StatementKey: Statement] = [:]
    private let statementsMax: Int
    private var clock: UInt64 = 0
    /// Names that the server still holds and nobody uses any more.
    private(set) var discarded: [Statement] = []

    init(statementsMax: Int) { self.statementsMax = max(1, statementsMax) }

    var count: Int { table.count }

    mutating func find(_ query: Query) -> Statement {
        clock += 1
        let key = StatementKey(hash: query.hash, text: query.text)
        if let statement = table[key] {
            statement.lastUsed = clock
            return statement
        }
        // Texts are few; a full table means texts made at run time, and then a look at all of them costs least.
        if table.count >= statementsMax, let oldest = table.values.min(by: { $0.lastUsed < $1.lastUsed }) {
            remove(oldest)
        }
        let statement = Statement(number: clock, key: key, parameterCount: query.parameterCount)
        statement.lastUsed = clock
        table[key] = statement
        return statement
    }

    /// Forgets a statement. If the server has it, its name is to be given back.
    mutating func remove(_ statement: Statement) {
        if table[statement.key] === statement { table[statement.key] = nil }
        if statement.isPrepared { discarded.append(statement) }
        statement.isPrepared = false
    }

    mutating func takeDiscarded() -> [Statement] {
        defer { discarded = [] }
        return discarded
    }
}

/// A look at a statement's words, once for each preparation.
enum StatementText {
    /// Whether a word occurs that changes or locks something. Too cautious for a literal or name that is such a word,
    /// which costs a Sync and nothing else.
    static func mayWrite(_ text: String) -> Bool {
        var word: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): word.append(byte - 32)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                word.append(byte)
            default:
                if changing.contains(word) { return true }
                word.removeAll(keepingCapacity: true)
            }
        }
        return changing.contains(word)
    }

    private static let changing: Set<[UInt8]> = Set(
        [
            "ALTER", "ANALYZE", "CALL", "COMMENT", "COPY", "CREATE", "DELETE", "DISCARD", "DO", "DROP", "EXECUTE",
            "GRANT",
            "INSERT", "INTO", "LISTEN", "LOCK", "MERGE", "NEXTVAL", "NOTIFY", "PG_NOTIFY", "REFRESH", "REINDEX",
            "RESET",
            "REVOKE", "SET", "SETVAL", "SET_CONFIG", "SHARE", "TRUNCATE", "UNLISTEN", "UPDATE", "VACUUM",
        ].map { Array($0.utf8) }
    )
}
