import Postgres

/// Up to where one who watches was told everything; opaque bytes to apps and gateways.
///
/// | bytes | what, big-endian |
/// | --- | --- |
/// | 1 | the version, 1 |
/// | 8 | the number of the database's cluster |
/// | 16 | the epoch, which a crash or a failover of the database ends |
/// | 8 | when it was made by the database's clock, in Unix seconds |
/// | 8 | the snapshot's horizon |
/// | 4 | its upper end, from the horizon |
/// | 4 each | the transactions that were under way, from the horizon |
struct GroupPosition: Sendable, Hashable {
    /// Where and for how long numbers of transactions mean something.
    struct Epoch: Sendable, Hashable {
        let systemIdentifier: Int64
        let id: PostgresUUID
    }

    let epoch: Epoch
    let madeAtSeconds: Int64
    /// What was told, or is older than the watching.
    let snapshot: DatabaseSnapshot

    /// Transactions under way that a position names. With more of them it goes back to the oldest one, and what came after that is
    /// told twice to whoever goes on from there.
    static let underWayMax = 64
    /// The longest position.
    static let bytesMax = headByteCount + 4 * underWayMax
    private static let version: UInt8 = 1
    private static let headByteCount = 45

    init(epoch: Epoch, madeAtSeconds: Int64, snapshot: DatabaseSnapshot) {
        self.epoch = epoch
        self.madeAtSeconds = madeAtSeconds
        self.snapshot = snapshot
    }

    /// What somebody gave back; nil if it is none of this version.
    init?(_ bytes: some Collection<UInt8>) {
        guard (Self.headByteCount...Self.bytesMax).contains(bytes.count), bytes.count % 4 == Self.headByteCount % 4,
            bytes.first == Self.version
        else { return nil }
        var rest = bytes.dropFirst()
        func take(_ count: Int) -> UInt64 {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        let systemIdentifier = Int64(bitPattern: take(8))
        epoch = Epoch(systemIdentifier: systemIdentifier, id: PostgresUUID(high: take(8), low: take(8)))
        madeAtSeconds = Int64(bitPattern: take(8))
        let horizon = take(8)
        let (upper, isOver) = horizon.addingReportingOverflow(take(4))
        guard !isOver else { return nil }
        var underWay: [UInt64] = []
        while !rest.isEmpty {
            let (transaction, isOver) = horizon.addingReportingOverflow(take(4))
            guard !isOver else { return nil }
            underWay.append(transaction)
        }
        guard let snapshot = DatabaseSnapshot(horizon: horizon, upper: upper, underWay: underWay) else { return nil }
        self.snapshot = snapshot
    }

    /// The bytes to give out.
    var bytes: [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        var upper = UInt32(clamping: snapshot.upper - snapshot.horizon)
        var underWay = snapshot.underWay.map { UInt32(clamping: $0 - snapshot.horizon) }
        if underWay.count > Self.underWayMax || upper == .max { (upper, underWay) = (0, []) }
        return [Self.version] + bytes(epoch.systemIdentifier) + epoch.id.bytes + bytes(madeAtSeconds)
            + bytes(snapshot.horizon) + bytes(upper) + underWay.flatMap { bytes($0) }
    }

    /// Whether the log as it was read now has all that was not told by then. One that is ahead of it was made by nobody.
    ///
    /// - Parameter keptSeconds: for how long what has changed is kept.
    func isGood(at now: GroupPosition, keptSeconds: Int64) -> Bool {
        guard epoch == now.epoch, snapshot.upper <= now.snapshot.upper, madeAtSeconds <= now.madeAtSeconds else {
            return false
        }
        // The app may have written any time into it: an age that overflows is older than what is kept.
        let (age, isOver) = now.madeAtSeconds.subtractingReportingOverflow(madeAtSeconds)
        let (limit, isUnder) = keptSeconds.subtractingReportingOverflow(Self.marginSeconds)
        return !isOver && !isUnder && age < limit
    }

    /// Transactions that last: what they change may be older than their end by so much.
    static let marginSeconds: Int64 = 600
}
