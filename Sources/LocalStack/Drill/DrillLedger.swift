/// What the services acknowledged to the phones of a drill.
actor DrillLedger {
    /// A new account, and what followed.
    struct Entry: Sendable {
        let person: DemoPerson
        let session: DemoSession
        let signedInAt: ContinuousClock.Instant
        /// When the name was saved; nil if that wasn't acknowledged.
        var namedAt: ContinuousClock.Instant?
        var wasDeletionTried = false
        /// When the account was deleted; nil if that wasn't acknowledged.
        var deletedAt: ContinuousClock.Instant?
    }

    private(set) var entries: [Entry] = []

    /// A first sign-in was acknowledged.
    ///
    /// - Returns: the entry's index.
    func add(_ person: DemoPerson, _ session: DemoSession) -> Int {
        entries.append(Entry(person: person, session: session, signedInAt: .now))
        return entries.count - 1
    }

    func named(_ index: Int) { entries[index].namedAt = .now }
    func deleting(_ index: Int) { entries[index].wasDeletionTried = true }
    func deleted(_ index: Int) { entries[index].deletedAt = .now }
}
