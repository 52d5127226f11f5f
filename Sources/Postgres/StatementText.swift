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
