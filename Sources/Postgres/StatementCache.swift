/// The statements that a connection has prepared: at most so many, the least recently used one makes room.
struct StatementCache {
    private var table: [StatementKey: Statement] = [:]
    private let statementsMax: Int
    private let naming: StatementNaming
    private var clock: UInt64 = 0
    /// Names that the server still holds and nobody uses any more.
    private(set) var discarded: [Statement] = []

    init(statementsMax: Int, naming: StatementNaming) {
        self.statementsMax = max(1, statementsMax)
        self.naming = naming
    }

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
        let statement = Statement(name: naming.name(clock), key: key, parameterCount: query.parameterCount)
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
