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

/// Identifies a database: numbers of transactions mean something in it alone, and only until a failover.
struct DatabaseIdentity: Sendable, Hashable {
    let systemIdentifier: Int64
    /// Changes when a standby takes over or a backup is restored.
    let timeline: UInt32
}

/// Sessions that ended, as one snapshot of the database sees them.
struct RevocationsRead: Sendable, Hashable {
    let snapshot: RevocationSnapshot
    let database: DatabaseIdentity
    /// Sessions that were begun before this time have ended, in Unix milliseconds.
    let sessionsFromMilliseconds: Int64
    let sessionIDs: [SessionID]
    /// Changes of accounts of which their owners are notified; none in a read by place.
    var accountChanges: [AccountChange] = []
    /// The last session's place in the log; nil if there is none.
    let last: RevocationPlace?
}

/// A place in the log of ended sessions.
struct RevocationPlace: Sendable, Hashable {
    let transaction: UInt64
    let id: Int64

    /// The place before all of a transaction.
    static func before(transaction: UInt64) -> RevocationPlace { RevocationPlace(transaction: transaction, id: 0) }
}

extension IdentityStore {
    /// The longest that an access token of an ended session may look valid: the longest lifetime that can be configured, since the
    /// token's may not be today's.
    static let tokensBelievedMilliseconds = SessionTokenMint.accessTokenSecondsMax * 1000
    /// The margin beyond that for clocks that differ, and transactions that take long.
    static let revocationMarginMilliseconds: Int64 = 1_200_000
    /// How long ended sessions are remembered.
    static let revocationsKeptMilliseconds = tokensBelievedMilliseconds + revocationMarginMilliseconds
    /// The same in seconds.
    static let revocationsKeptSeconds = revocationsKeptMilliseconds / 1000
    /// The channel by which replicas that end sessions notify the others.
    static let revocationChannel = "vestibule_identity_revocations"

    /// All at once in one statement, since the rest is read by that statement's snapshot. A row that was restored from elsewhere may have
    /// a transaction number that is still to come: it is left out until then.
    private static let here = """
        SELECT pg_current_snapshot()::text AS snapshot, (SELECT system_identifier FROM pg_control_system()) AS system,
            left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline, (SELECT sessions_from FROM session_epoch) AS epoch
        """
    private static let columns = "snapshot, system, timeline, epoch, log.session_id, log.xid::text, log.id"
    private static let columnCount = 7
    fileprivate static let isPast = "xid < pg_snapshot_xmax(pg_current_snapshot())"

    /// Sessions that ended since a snapshot, in no order.
    ///
    /// - Parameters:
    ///   - earlier: a snapshot of the same database; nil reads no ended sessions.
    ///   - limit: the most sessions to read. If as many are returned, there may be more.
    ///   - changesMax: the most changes of accounts to read. Those beyond are never read: their owners find them in their lists.
    func revocations(
        since earlier: RevocationSnapshot?,
        limit: Int,
        changesMax: Int
    ) async throws(PostgresError) -> RevocationsRead {
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

    /// Sessions that ended behind a place, in the order of the log, no matter what became of their transactions before.
    func revocations(
        after place: RevocationPlace,
        limit: Int,
        deadline: Deadline?
    ) async throws(PostgresError) -> RevocationsRead {
        try read(
            try await database.query(
                """
                SELECT \(unsafeSQL: Self.columns) FROM (\(unsafeSQL: Self.here)) here LEFT JOIN (
                    SELECT id, xid, session_id FROM revocations
                    WHERE (xid, id) > (\(String(place.transaction))::xid8, \(place.id)) AND \(unsafeSQL: Self.isPast)
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
            last = RevocationPlace(transaction: transaction, id: try row.decode(6, as: Int64.self))
        }
        return RevocationsRead(
            snapshot: RevocationSnapshot(text: snapshot),
            database: DatabaseIdentity(systemIdentifier: system, timeline: timeline),
            // Without the epoch's row all sessions count as ended.
            sessionsFromMilliseconds: max(0, (epoch ?? PostgresTimestamp(microsecondsSince1970: .max)).milliseconds),
            sessionIDs: sessionIDs,
            accountChanges: accountChanges,
            last: last
        )
    }

    private static let unreadable = PostgresError.decoding(CellDecodingError(column: 0, reason: "no snapshot"))

    /// Notifies all replicas that sessions have ended. In a transaction of its own: notifying takes a lock until the commit, and the
    /// server has only one.
    func notifyOfRevocations() async throws(PostgresError) {
        try await database.execute("SELECT pg_notify(\(Self.revocationChannel), '')")
    }

    /// Forgets ended sessions whose tokens no longer look valid, at most `limit`, and returns how many.
    func forgetRevocations(limit: Int) async throws(PostgresError) -> Int {
        let rows = try await database.execute(
            """
            DELETE FROM revocations WHERE id IN (
                SELECT id FROM revocations
                WHERE revoked_at <= now() - make_interval(secs => \(Double(Self.revocationsKeptMilliseconds) / 1000))
                ORDER BY revoked_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}

extension Query.StringInterpolation {
    /// Whether a row was written by a transaction that a snapshot did not see, and that isn't still to come.
    fileprivate mutating func appendInterpolation(isUnseenBy snapshot: String) {
        appendLiteral("(xid >= pg_snapshot_xmax(")
        appendInterpolation(snapshot)
        appendLiteral("::pg_snapshot) OR xid = ANY (ARRAY(SELECT pg_snapshot_xip(")
        appendInterpolation(snapshot)
        appendLiteral("::pg_snapshot)))) AND \(IdentityStore.isPast)")
    }
}
