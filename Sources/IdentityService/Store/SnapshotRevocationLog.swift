import Models
import Postgres
import RPC
import ServiceModels

/// The position of a read of the log of ended sessions: the next read returns what this snapshot of the database did not see.
struct RevocationSnapshot: Sendable, Hashable {
    /// As PostgreSQL writes it: the oldest transaction that was under way, the next one to begin, and those under way between.
    let text: String

    /// No session that ended by a transaction before this one is reported later.
    var horizon: UInt64 { text.split(separator: ":").first.flatMap { UInt64($0) } ?? 0 }

    /// A snapshot that saw less: the work of so many transactions before its horizon, whether it saw it or not, counts as not seen.
    func doubted(by count: UInt64) -> RevocationSnapshot {
        let from = Self.doubted(horizon, by: count)
        return RevocationSnapshot(text: "\(from):\(from):")
    }

    /// A horizon that lies so many transactions before.
    static func doubted(_ horizon: UInt64, by count: UInt64) -> UInt64 { max(horizon, count + 1) - count }
}

/// The log, read by PostgreSQL's snapshots. Each row has the number of its transaction, and a snapshot shows which transactions have ended.
struct SnapshotRevocationLog: RevocationLog {
    private static let name = "vestibule_identity_revocations"

    let database: PostgresClient
    /// Transactions before a horizon, or before a failure, whose sessions are sent again. A crashed database server may reuse the numbers of
    /// aborted transactions, and the new transactions would seem to have ended before.
    let transactionsInDoubt: UInt64
    var channel: String? { Self.name }

    func place(before horizon: UInt64) -> RevocationPlace {
        .before(RevocationSnapshot.doubted(horizon, by: transactionsInDoubt))
    }

    func certain(of seen: RevocationsSeen) -> RevocationsSeen {
        guard case .snapshot(let snapshot) = seen else { return seen }
        return .snapshot(snapshot.doubted(by: transactionsInDoubt))
    }

    /// All at once in one statement, since the rest is read by that statement's snapshot. A row that was restored from elsewhere may have
    /// a transaction number that is still to come: it is left out until then.
    private static let here = """
        SELECT pg_current_snapshot()::text AS snapshot, (SELECT system_identifier FROM pg_control_system()) AS system,
            left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline, (SELECT sessions_from FROM session_epoch) AS epoch
        """
    private static let columns = "snapshot, system, timeline, epoch, log.session_id, log.xid::text, log.id"
    private static let columnCount = 7
    fileprivate static let isPast = "xid < pg_snapshot_xmax(pg_current_snapshot())"

    func read(
        since earlier: RevocationsSeen?,
        limit: Int,
        changesMax: Int
    ) async throws(PostgresError) -> RevocationsRead {
        let earlier: RevocationSnapshot? = if case .snapshot(let snapshot) = earlier { snapshot } else { nil }
        let snapshot = earlier?.text ?? "1:1:"
        return try read(
            try await database.query(
                """
                SELECT \(unsafeSQL: Self.columns), \(unsafeSQL: AccountChange.columns)
                FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                    (SELECT id, xid, session_id, NULL::uuid AS user_id, NULL AS kind, NULL::timestamptz AS occurred_at,
                        NULL AS provider, NULL::uuid AS by_session_id
                    FROM revocations WHERE \(isUnseenBy: snapshot) LIMIT \(earlier == nil ? 0 : limit))
                    UNION ALL
                    (SELECT NULL, NULL, NULL, user_id, kind, occurred_at, details ->> 'provider', session_id
                    FROM security_events
                    WHERE \(isUnseenBy: snapshot) AND \(unsafeSQL: AccountChange.isChange) AND user_id IS NOT NULL
                    LIMIT \(earlier == nil ? 0 : changesMax))
                ) log ON true
                """
            ),
            hasChanges: true
        )
    }

    func read(
        after place: RevocationPlace,
        limit: Int,
        deadline: Deadline?
    ) async throws(PostgresError) -> RevocationsRead {
        try read(
            try await database.query(
                """
                SELECT \(unsafeSQL: Self.columns) FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                    SELECT id, xid, session_id FROM revocations
                    WHERE (xid, id) > (\(String(place.number))::xid8, \(place.id)) AND \(unsafeSQL: Self.isPast)
                    ORDER BY xid, id LIMIT \(limit)
                ) log ON true ORDER BY log.xid, log.id
                """,
                deadline: deadline
            )
        )
    }

    private func read(_ rows: Rows, hasChanges: Bool = false) throws(PostgresError) -> RevocationsRead {
        guard let first = rows.first else { throw Self.unreadable }
        let (snapshot, system, timeline, epoch) = try first.decode(
            String.self,
            Int64.self,
            String.self,
            PostgresTimestamp?.self
        )
        guard let timeline = UInt32(timeline, radix: 16) else { throw Self.unreadable }
        var sessionIDs: [SessionID] = []
        var accountChanges: [AccountChange] = []
        var last: RevocationPlace?
        for row in rows {
            if hasChanges, let change = try AccountChange(row, from: Self.columnCount) { accountChanges.append(change) }
            guard let session = try row.decode(4, as: PostgresUUID?.self) else { continue }
            sessionIDs.append(SessionID(session))
            guard let transaction = UInt64(try row.decode(5, as: String.self)) else { throw Self.unreadable }
            last = RevocationPlace(number: transaction, id: try row.decode(6, as: Int64.self))
        }
        return RevocationsRead(
            seen: .snapshot(RevocationSnapshot(text: snapshot)),
            database: DatabaseIdentity(systemIdentifier: system, timeline: timeline),
            epoch: epoch,
            sessionIDs: sessionIDs,
            accountChanges: accountChanges,
            last: last
        )
    }

    private static let unreadable = PostgresError.decoding(CellDecodingError(column: 0, reason: "no snapshot"))

    /// In a transaction of its own: notifying takes a lock until the commit, and the server has only one.
    func notify() async throws(PostgresError) {
        try await database.execute("SELECT pg_notify(\(Self.name), '')")
    }
}

extension Query.StringInterpolation {
    /// Whether a row was written by a transaction that a snapshot did not see, and that isn't still to come.
    fileprivate mutating func appendInterpolation(isUnseenBy snapshot: String) {
        appendLiteral("(xid >= pg_snapshot_xmax(")
        appendInterpolation(snapshot)
        appendLiteral("::pg_snapshot) OR xid = ANY (ARRAY(SELECT pg_snapshot_xip(")
        appendInterpolation(snapshot)
        appendLiteral("::pg_snapshot)))) AND \(SnapshotRevocationLog.isPast)")
    }
}
