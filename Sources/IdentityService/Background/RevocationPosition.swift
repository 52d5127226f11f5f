import Bytes
import ServiceKit

/// How far a watcher of ended sessions has read; opaque bytes to it, sealed as a cursor.
struct RevocationPosition: CursorPayload, Hashable {
    /// Where the transactions' numbers mean something.
    let database: DatabaseIdentity
    /// Transactions before this one were told.
    let horizon: UInt64
    /// When it was made, in Unix seconds.
    let madeAtSeconds: Int64

    /// The scope of positions. They are one for all callers, which are servers: a position says nothing of an account.
    static let scope = CursorScope(method: "WatchRevocations")
    static let bytesMax = 29
    private static let version: UInt8 = 1

    init(database: DatabaseIdentity, horizon: UInt64, madeAtSeconds: Int64) {
        self.database = database
        self.horizon = horizon
        self.madeAtSeconds = madeAtSeconds
    }

    init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        guard try reader.byte() == Self.version else { throw CursorError() }
        database = DatabaseIdentity(systemIdentifier: try reader.integer(), timeline: try reader.integer())
        horizon = try reader.integer()
        madeAtSeconds = try reader.integer()
    }

    func write(to bytes: inout [UInt8]) {
        bytes.append(Self.version)
        bytes.append(integer: database.systemIdentifier)
        bytes.append(integer: database.timeline)
        bytes.append(integer: horizon)
        bytes.append(integer: madeAtSeconds)
    }

    /// Whether the log as it was read now has all that was not told by then. One from so far ahead that no clock made it is no
    /// good either: a caller may have written any time into it.
    func isGood(for read: RevocationsRead, nowSeconds: Int64) -> Bool {
        let kept = IdentityStore.revocationsKeptSeconds
        // The position may hold any time: an age that overflows is out of the range.
        guard let age = (Checked(nowSeconds) - madeAtSeconds).value else { return false }
        return database == read.database && horizon <= read.snapshot.horizon && -kept < age && age < kept
    }
}
