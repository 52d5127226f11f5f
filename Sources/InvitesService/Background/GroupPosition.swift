import Bytes
import Models
import Postgres
import ServiceKit

/// How far an app that watches groups has read; opaque bytes to apps and gateways. The gateway seals it for the account before it
/// gives it to the app, and ``InvitesMethods/watchGroups(_:responses:context:)`` opens it.
///
/// | bytes | what, big-endian |
/// | --- | --- |
/// | 1 | the version: 1, or 2 for a position inside a transaction |
/// | 8 | the number of the database's cluster |
/// | 16 | the epoch, which a crash or a failover of the database ends |
/// | 8 | when it was made by the database's clock, in Unix seconds |
/// | 8 | the snapshot's horizon |
/// | 4 | its upper end, from the horizon |
/// | 4 | version 2: the transaction of which a part was read, from the horizon |
/// | 8 | version 2: the last row that was read of it |
/// | 4 each | the transactions that were under way, from the horizon |
struct GroupPosition: CursorPayload, Hashable {
    /// Where and for how long numbers of transactions mean something.
    struct Epoch: Sendable, Hashable {
        let systemIdentifier: Int64
        let id: PostgresUUID
    }

    let epoch: Epoch
    let madeAtSeconds: Int64
    /// What was delivered, or is older than the watching.
    let point: GroupLogPoint

    /// Transactions under way that a position names. With more of them it goes back to the oldest one, and what came after that is
    /// delivered twice to an app that goes on from there.
    static let underWayMax = 64
    /// The longest position: its head, what a part of a transaction takes, and four bytes for each transaction.
    static let bytesMax = 313
    private static let version: UInt8 = 1
    private static let partialVersion: UInt8 = 2

    init(epoch: Epoch, madeAtSeconds: Int64, point: GroupLogPoint) {
        self.epoch = epoch
        self.madeAtSeconds = madeAtSeconds
        self.point = point
    }

    /// The scope of an account's positions.
    static func scope(of userID: UserID) -> CursorScope {
        CursorScope(method: "WatchGroups", account: userID.description)
    }

    init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        let version = try reader.byte()
        guard version == Self.version || version == Self.partialVersion else { throw CursorError() }
        let systemIdentifier: Int64 = try reader.integer()
        epoch = Epoch(
            systemIdentifier: systemIdentifier,
            id: PostgresUUID(high: try reader.integer(), low: try reader.integer())
        )
        madeAtSeconds = try reader.integer()
        let horizon: UInt64 = try reader.integer()
        let upper = Checked(horizon) + UInt64(try reader.integer(UInt32.self))
        var partial: (transaction: Checked<UInt64>, id: Int64)?
        if version == Self.partialVersion {
            partial = (Checked(horizon) + UInt64(try reader.integer(UInt32.self)), try reader.integer())
        }
        var underWay: [UInt64] = []
        while !reader.isAtEnd {
            let transaction = Checked(horizon) + UInt64(try reader.integer(UInt32.self))
            guard let transaction = transaction.value, underWay.count < Self.underWayMax else { throw CursorError() }
            underWay.append(transaction)
        }
        guard let upper = upper.value,
            let snapshot = DatabaseSnapshot(horizon: horizon, upper: upper, underWay: underWay)
        else { throw CursorError() }
        guard let partial else {
            point = GroupLogPoint(snapshot)
            return
        }
        guard let transaction = partial.transaction.value,
            let point = GroupLogPoint(snapshot, partial: .init(transaction: transaction, id: partial.id))
        else { throw CursorError() }
        self.point = point
    }

    func write(to bytes: inout [UInt8]) {
        // A snapshot's numbers are not below its horizon, and neither is a transaction that was read in part.
        let snapshot = point.snapshot
        var upper = UInt32(clamping: snapshot.upper &- snapshot.horizon)
        var underWay = snapshot.underWay.map { UInt32(clamping: $0 &- snapshot.horizon) }
        var partial = point.partial
        if underWay.count > Self.underWayMax || upper == .max { (upper, underWay, partial) = (0, [], nil) }
        bytes.append(partial == nil ? Self.version : Self.partialVersion)
        bytes.append(integer: epoch.systemIdentifier)
        bytes += epoch.id.bytes
        bytes.append(integer: madeAtSeconds)
        bytes.append(integer: snapshot.horizon)
        bytes.append(integer: upper)
        if let partial {
            bytes.append(integer: UInt32(clamping: partial.transaction &- snapshot.horizon))
            bytes.append(integer: partial.id)
        }
        for transaction in underWay { bytes.append(integer: transaction) }
    }

    /// Whether the log as it is now has all that was not delivered by then. A position that is ahead of it was made by nobody.
    ///
    /// - Parameters:
    ///   - now: how the database sees the log, however far this replica has read it.
    ///   - keptSeconds: for how long what has changed is kept.
    func isGood(at now: GroupPosition, keptSeconds: Int64) -> Bool {
        guard epoch == now.epoch, now.point.contains(point), madeAtSeconds <= now.madeAtSeconds else {
            return false
        }
        // The app may have written any time into it: an age that overflows is older than what is kept.
        guard let age = (Checked(now.madeAtSeconds) - madeAtSeconds).value,
            let limit = (Checked(keptSeconds) - Self.marginSeconds).value
        else { return false }
        return age < limit
    }

    /// Transactions that last: what they change may be older than their end by so much.
    static let marginSeconds: Int64 = 600
}
