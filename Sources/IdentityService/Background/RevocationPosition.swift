/// Up to where a watcher of ended sessions was told everything; opaque bytes to it.
struct RevocationPosition: Sendable, Hashable {
    /// Where the transactions' numbers mean something.
    let database: DatabaseIdentity
    /// Transactions before this one were told.
    let horizon: UInt64
    /// When it was made, in Unix seconds.
    let madeAtSeconds: Int64

    private static let version: UInt8 = 1
    private static let byteCount = 29

    init(database: DatabaseIdentity, horizon: UInt64, madeAtSeconds: Int64) {
        self.database = database
        self.horizon = horizon
        self.madeAtSeconds = madeAtSeconds
    }

    /// What a caller gave back; nil if it is none of this version.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount, bytes.first == Self.version else { return nil }
        var rest = bytes.dropFirst()
        func take(_ count: Int) -> UInt64 {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        let systemIdentifier = Int64(bitPattern: take(8))
        let timeline = UInt32(truncatingIfNeeded: take(4))
        database = DatabaseIdentity(systemIdentifier: systemIdentifier, timeline: timeline)
        horizon = take(8)
        madeAtSeconds = Int64(bitPattern: take(8))
    }

    /// The bytes to give out.
    var bytes: [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        return [Self.version] + bytes(database.systemIdentifier) + bytes(database.timeline) + bytes(horizon)
            + bytes(madeAtSeconds)
    }

    /// Whether the log as it was read now has all that was not told by then. One from so far ahead that no clock made it is no
    /// good either: a caller may have written any time into it.
    func isGood(for read: RevocationsRead, nowSeconds: Int64) -> Bool {
        let kept = IdentityStore.revocationsKeptMilliseconds / 1000
        return database == read.database && horizon <= read.snapshot.horizon && madeAtSeconds > nowSeconds - kept
            && madeAtSeconds < nowSeconds + kept
    }
}
