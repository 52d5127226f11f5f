import Bytes
import ServiceKit

/// A watcher's position in the log of ended sessions; opaque bytes to the watcher, sealed as a cursor.
struct RevocationPosition: CursorPayload, Hashable {
    /// The database in which the horizon is valid.
    let database: DatabaseIdentity
    /// What was visible before it was sent: a number of transactions, or a time; see ``RevocationLog``.
    let horizon: UInt64
    /// When it was made, in Unix seconds.
    let madeAtSeconds: Int64

    /// The scope of positions. There is one for all callers, which are servers: a position contains nothing about an account.
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

    /// Returns whether the log, as read now, has all sessions that were not sent up to the position. A position from too far in the
    /// future is invalid too: a caller may have written any time into it.
    func isGood(for read: RevocationsRead, nowSeconds: Int64) -> Bool {
        let kept = IdentityStore.revocationsKeptSeconds
        // The position may hold any time: an age that overflows is out of the range.
        guard let age = (Checked(nowSeconds) - madeAtSeconds).value else { return false }
        return database == read.database && horizon <= read.seen.newestHorizon && -kept < age && age < kept
    }
}
