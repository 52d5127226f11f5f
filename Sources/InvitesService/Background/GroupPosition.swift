import Bytes
import Models
import Postgres
import ServiceKit
import ServiceStore

/// How far a subscribed app has read; opaque bytes to apps and gateways. The gateway seals it for the account before it gives it to the
/// app, and ``InvitesMethods/watchGroups(_:responses:context:)`` opens it.
///
/// | bytes | what, big-endian |
/// | --- | --- |
/// | 1 | the version: 1, 2 for a position inside a transaction, or 3 for one of a log that is read by its clock |
/// | 8 | the number of the database's cluster |
/// | 16 | the epoch, which a crash or a failover of the database ends |
/// | 8 | when it was made by the database's clock, in Unix seconds |
/// | 8 | the snapshot's horizon |
/// | 4 | its upper end, from the horizon |
/// | 4 | version 2: the transaction of which a part was read, from the horizon |
/// | 8 | version 2: the last row that was read of it |
/// | 4 each | the transactions that were under way, from the horizon |
///
/// Of version 3 there is one part after the time: eight bytes with the end of its ``ClockWindow``.
struct GroupPosition: CursorPayload, Hashable {
    /// The scope in which transaction numbers are valid.
    struct Epoch: Sendable, Hashable {
        let systemIdentifier: Int64
        let id: PostgresUUID
    }

    let epoch: Epoch
    let madeAtSeconds: Int64
    /// The place up to which changes were delivered, or are older than the subscription.
    let place: GroupLogPlace

    /// The maximum of in-progress transactions that a position names. With more of them it goes back to the oldest one, and an app that
    /// continues from there gets later changes twice.
    static let underWayMax = 64
    /// The longest position: its head, the part of a transaction, and four bytes for each transaction.
    static let bytesMax = 313
    private static let version: UInt8 = 1
    private static let partialVersion: UInt8 = 2
    private static let clockVersion: UInt8 = 3

    init(epoch: Epoch, madeAtSeconds: Int64, place: GroupLogPlace) {
        self.epoch = epoch
        self.madeAtSeconds = madeAtSeconds
        self.place = place
    }

    /// The scope of an account's positions.
    static func scope(of userID: UserID) -> CursorScope {
        CursorScope(method: "WatchGroups", account: userID.description)
    }

    init(from reader: inout ByteReader<CursorError>) throws(CursorError) {
        let version = try reader.byte()
        guard [Self.version, Self.partialVersion, Self.clockVersion].contains(version) else { throw CursorError() }
        let systemIdentifier: Int64 = try reader.integer()
        epoch = Epoch(
            systemIdentifier: systemIdentifier,
            id: PostgresUUID(high: try reader.integer(), low: try reader.integer())
        )
        madeAtSeconds = try reader.integer()
        if version == Self.clockVersion {
            let end: Int64 = try reader.integer()
            guard ClockWindow<Int64>.isUsable(end: end) else { throw CursorError() }
            place = .clock(ClockWindow(end: end))
        } else {
            place = .snapshot(try Self.point(from: &reader, isPartial: version == Self.partialVersion))
        }
    }

    private static func point(
        from reader: inout ByteReader<CursorError>,
        isPartial: Bool
    ) throws(CursorError) -> GroupLogPoint {
        let horizon: UInt64 = try reader.integer()
        let upper = Checked(horizon) + UInt64(try reader.integer(UInt32.self))
        var partial: (transaction: Checked<UInt64>, id: Int64)?
        if isPartial {
            partial = (Checked(horizon) + UInt64(try reader.integer(UInt32.self)), try reader.integer())
        }
        var underWay: [UInt64] = []
        while !reader.isAtEnd {
            let transaction = Checked(horizon) + UInt64(try reader.integer(UInt32.self))
            guard let transaction = transaction.value, underWay.count < underWayMax else { throw CursorError() }
            underWay.append(transaction)
        }
        guard let upper = upper.value,
            let snapshot = DatabaseSnapshot(horizon: horizon, upper: upper, underWay: underWay)
        else { throw CursorError() }
        guard let partial else { return GroupLogPoint(snapshot) }
        guard let transaction = partial.transaction.value,
            let point = GroupLogPoint(snapshot, partial: .init(transaction: transaction, id: partial.id))
        else { throw CursorError() }
        return point
    }

    func write(to bytes: inout [UInt8]) {
        switch place {
        case .snapshot(let point): write(point, to: &bytes)
        case .clock(let window):
            writeHead(Self.clockVersion, to: &bytes)
            bytes.append(integer: window.end)
        }
    }

    private func writeHead(_ version: UInt8, to bytes: inout [UInt8]) {
        bytes.append(version)
        bytes.append(integer: epoch.systemIdentifier)
        bytes += epoch.id.bytes
        bytes.append(integer: madeAtSeconds)
    }

    private func write(_ point: GroupLogPoint, to bytes: inout [UInt8]) {
        // A snapshot's numbers are not below its horizon, and neither is a transaction that was read in part.
        let snapshot = point.snapshot
        var upper = UInt32(clamping: snapshot.upper &- snapshot.horizon)
        var underWay = snapshot.underWay.map { UInt32(clamping: $0 &- snapshot.horizon) }
        var partial = point.partial
        if underWay.count > Self.underWayMax || upper == .max { (upper, underWay, partial) = (0, [], nil) }
        writeHead(partial == nil ? Self.version : Self.partialVersion, to: &bytes)
        bytes.append(integer: snapshot.horizon)
        bytes.append(integer: upper)
        if let partial {
            bytes.append(integer: UInt32(clamping: partial.transaction &- snapshot.horizon))
            bytes.append(integer: partial.id)
        }
        for transaction in underWay { bytes.append(integer: transaction) }
    }

    /// Returns whether the log still has everything that was not delivered by then. A position ahead of the log was not made here.
    ///
    /// - Parameters:
    ///   - now: the position that the database's snapshot sees, however far this replica has read.
    ///   - keptSeconds: how long changes are kept.
    func isGood(at now: GroupPosition, keptSeconds: Int64) -> Bool {
        guard epoch == now.epoch, now.place.contains(place), madeAtSeconds <= now.madeAtSeconds else {
            return false
        }
        // The app may have put any time into it: an age that overflows is older than what is kept.
        guard let age = (Checked(now.madeAtSeconds) - madeAtSeconds).value,
            let limit = (Checked(keptSeconds) - Self.marginSeconds).value
        else { return false }
        return age < limit
    }

    /// The longest transactions: their changes may be older than their end by this much.
    static let marginSeconds: Int64 = 600
}
