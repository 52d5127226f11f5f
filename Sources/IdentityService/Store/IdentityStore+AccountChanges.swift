import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// A change of an account of which its owner is notified in their other sessions.
struct AccountChange: Sendable, Hashable {
    let userID: UserID
    /// One of `SecurityEvent.accountChanges`.
    let kind: SecurityEvent
    let occurredAtMilliseconds: Int64
    /// The provider that it is about; nil if it is about none.
    let provider: String?
    /// The session by which it was made; nil if it was by none.
    let sessionID: SessionID?
}

extension AccountChange {
    /// The columns of a row that is read by ``init(_:from:)``.
    static let columns = "log.user_id, log.kind, log.occurred_at, log.provider, log.by_session_id"
    /// Whether a row of `security_events` is one. The first part repeats the condition of the indexes.
    static let isChange = """
        \(IdentityMigrations.rareEvents)
            AND kind IN (\(SecurityEvent.accountChanges.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
        """

    /// The change of a row whose columns begin with this one; nil if the row has none.
    init?(_ row: Row, from column: Int) throws(PostgresError) {
        guard let user = try row.decode(column, as: PostgresUUID?.self),
            let kind = try row.decode(column + 1, as: String?.self).flatMap(SecurityEvent.init(rawValue:)),
            let occurredAt = try row.decode(column + 2, as: PostgresTimestamp?.self)
        else { return nil }
        self.init(
            userID: UserID(user),
            kind: kind,
            occurredAtMilliseconds: occurredAt.milliseconds,
            provider: try row.decode(column + 3, as: String?.self),
            sessionID: try row.decode(column + 4, as: PostgresUUID?.self).map { SessionID($0) }
        )
    }
}

/// A change of an account as its owner finds it in the list of their sessions.
struct ListedAccountChange: Sendable, Hashable {
    let change: AccountChange
    /// What the device of the session is called by which it was made; nil if nobody named it, or the session isn't known any more.
    let deviceName: String?
}

extension IdentityStore {
    /// For how long the list of sessions has the changes of an account. The audit log keeps them for longer.
    static let changesListedMilliseconds: Int64 = 30 * 86_400_000
    /// The most changes that a list has.
    static let changesListedMax = 50

    /// The changes of an account in the last thirty days, the newest first, at most ``changesListedMax``.
    func changes(
        of userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> [ListedAccountChange] {
        let from = PostgresTimestamp(milliseconds: nowMilliseconds - Self.changesListedMilliseconds)
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: AccountChange.columns), device_name FROM (
                SELECT event_id, user_id, kind, occurred_at, details ->> 'provider' AS provider, session_id AS by_session_id
                FROM security_events
                WHERE user_id = \(userID.uuid) AND event_id >= security_event_id(\(from), true)
                    AND \(unsafeSQL: AccountChange.isChange)
                ORDER BY event_id DESC LIMIT \(Int64(Self.changesListedMax))
            ) log LEFT JOIN sessions ON sessions.session_id = log.by_session_id AND sessions.user_id = log.user_id
            ORDER BY log.event_id DESC
            """,
            deadline: deadline
        )
        var changes: [ListedAccountChange] = []
        for row in rows {
            guard let change = try AccountChange(row, from: 0) else { continue }
            changes.append(ListedAccountChange(change: change, deviceName: try row.decode(5, as: String?.self)))
        }
        return changes
    }
}
