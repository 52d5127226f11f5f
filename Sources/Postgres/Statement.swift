/// A prepared statement of one connection. Loop's thread only.
final class Statement {
    /// Its name on the server, ending in zero. Never used twice on a connection. Only the zero if the server keeps nothing of it.
    let name: [CChar]
    /// Whether the server keeps it.
    var isNamed: Bool { name.count > 1 }
    let key: StatementKey
    /// Whether it may change or lock something, and so gets a Sync of its own even when called as a read.
    let mayWrite: Bool
    /// Whether it can't be put into the protocol: too many parameters, or a zero byte, at which libpq would take the
    /// text to end.
    let isUnsendable: Bool
    /// Whether the server has the statement.
    var isPrepared = false
    /// Why the server would not prepare it: the answer for all who were sent behind the one that tried.
    var failure: PostgresServerError?
    /// The cache's clock at its last use.
    var lastUsed: UInt64 = 0

    init(name: String, key: StatementKey, parameterCount: Int) {
        self.name = Array(name.utf8CString)
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
