/// The accounts of a loop and whose turn it is. An account is used by one worker at a time, and then only again when
/// all others were: so every session is called as often as any other, however many workers are awake. A pure value.
struct AccountPool: Sendable {
    private(set) var accounts: [Account]
    /// A ring of the indices of accounts that nobody uses, from `head` on.
    private var free: [Int]
    private var head = 0
    private var freeCount: Int

    /// A pool of accounts, of which there must be as many as workers that ask.
    init(_ accounts: [Account]) {
        self.accounts = accounts
        free = Array(accounts.indices)
        freeCount = free.count
    }

    /// The account that was not used for the longest time.
    mutating func take() -> Int {
        precondition(freeCount > 0, "a worker without an account")
        let index = free[head]
        head = head + 1 == free.count ? 0 : head + 1
        freeCount -= 1
        return index
    }

    /// Nobody uses the account any more.
    mutating func giveBack(_ index: Int) {
        let end = head + freeCount
        free[end < free.count ? end : end - free.count] = index
        freeCount += 1
    }

    /// An account that was taken.
    subscript(index: Int) -> Account {
        _read { yield accounts[index] }
        _modify { yield &accounts[index] }
    }
}
