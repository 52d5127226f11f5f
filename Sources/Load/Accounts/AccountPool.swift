/// Hands out the accounts of a loop in turn. One worker at a time uses an account, and it is used again only after all
/// others were. So each session is called equally often, for any number of active workers. A pure value.
struct AccountPool: Sendable {
    private(set) var accounts: [Account]
    /// A ring of the indices of unused accounts, from `head` on.
    private var free: [Int]
    private var head = 0
    private var freeCount: Int

    /// A pool of accounts; there must be at least one for each worker.
    init(_ accounts: [Account]) {
        self.accounts = accounts
        free = Array(accounts.indices)
        freeCount = free.count
    }

    /// The account that has been unused for the longest time.
    mutating func take() -> Int {
        precondition(freeCount > 0, "a worker without an account")
        let index = free[head]
        head = head + 1 == free.count ? 0 : head + 1
        freeCount -= 1
        return index
    }

    /// Returns an account to the pool.
    mutating func giveBack(_ index: Int) {
        let end = head + freeCount
        free[end < free.count ? end : end - free.count] = index
        freeCount += 1
    }

    /// An account that is in use.
    subscript(index: Int) -> Account {
        _read { yield accounts[index] }
        _modify { yield &accounts[index] }
    }
}
