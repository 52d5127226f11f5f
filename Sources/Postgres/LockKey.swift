/// The row that a statement locks. Statements that are committed together take their locks in the order of their keys, so
/// that no two such transactions ever wait for each other in a circle.
public struct LockKey: Sendable, Hashable, Comparable {
    private let rank: Int
    private let high: UInt64
    private let low: UInt64

    /// A row by its key.
    ///
    /// - Parameter rank: tells tables apart, if rows of several are locked by statements that share commits.
    public init(_ key: PostgresUUID, rank: Int = 0) {
        self.rank = rank
        high = key.high
        low = key.low
    }

    /// A row by its key; as above.
    public init(_ key: Int64, rank: Int = 0) {
        self.rank = rank
        high = 0
        low = UInt64(bitPattern: key)
    }

    /// By rank, then by the key's bytes.
    public static func < (left: LockKey, right: LockKey) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        return left.high == right.high ? left.low < right.low : left.high < right.high
    }
}
