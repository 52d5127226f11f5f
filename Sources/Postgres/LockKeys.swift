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

    /// Whether waiting callers retry.
    mutating func takeWanted() -> Bool {
        defer { isWanted = false }
        return isWanted
    }
}
