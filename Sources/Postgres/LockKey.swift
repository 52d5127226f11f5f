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

/// The rows that a loop's shared commits hold now: one more statement for such a row waits until that commit is over, and
/// with it nobody who would share its own. Loop's thread only. As many keys as statements may be under way, at most.
struct LockKeys {
    private var held: Set<LockKey> = []
    /// Whether a statement waits for a key.
    private(set) var isWanted = false

    /// False if the row is taken.
    mutating func take(_ key: LockKey) -> Bool {
        if held.insert(key).inserted { return true }
        isWanted = true
        return false
    }

    /// The row is free again.
    mutating func free(_ key: LockKey) { held.remove(key) }

    /// Whether those who wait are to try again.
    mutating func takeWanted() -> Bool {
        defer { isWanted = false }
        return isWanted
    }
}
