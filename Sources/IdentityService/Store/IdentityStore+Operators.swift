import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// The key of an operator's search for accounts.
enum AccountKey: Sendable, Hashable {
    /// Their ids, at most ``IdentityStore/accountsFoundMax`` and one.
    case userIDs([UserID])
    /// An e-mail that a provider sent, as `EmailAddress` accepts it.
    case email(String)
    /// Its id in another backend.
    case importedID(source: String, oldID: String)
    /// A session that is kept.
    case session(SessionID)
    /// The name of a session's device, whatever the case of its letters.
    case device(String)
    /// A provider's name for its person.
    case identity(provider: String, subject: String)
}

/// A key as the statement takes it: what it isn't matches nothing.
private struct AccountKeyParts {
    var userIDs: [UserID] = []
    var email: String?
    var imported: (source: String, oldID: String)?
    var session: SessionID?
    var device: String?
    var identity: (provider: String, subject: String)?

    init(_ key: AccountKey?) {
        switch key {
        case .userIDs(let users): userIDs = users
        case .email(let text): email = text
        case .importedID(let source, let oldID): imported = (source, oldID)
        case .session(let id): session = id
        case .device(let name): device = name
        case .identity(let provider, let subject): identity = (provider, subject)
        case nil: break
        }
    }
}

/// Facts of an account that only operators see.
struct AccountStanding: Sendable, Hashable {
    let userID: UserID
    /// Nil if it isn't blocked.
    let block: StoredBlock?
    let liveSessions: Int64
}

/// Since when and why an account is blocked.
struct StoredBlock: Sendable, Hashable {
    let sinceMilliseconds: Int64
    /// A word of `BlockReason`.
    let reason: String
}

/// A row of the audit log.
struct StoredSecurityEvent: Sendable, Hashable {
    let eventID: EventID
    let kind: String
    let occurredAtMilliseconds: Int64
    let sessionID: SessionID?
    /// A JSON object.
    let details: String
}

extension IdentityStore {
    /// The most accounts that one search returns.
    static let accountsFoundMax = 16
    /// The most sessions that are looked at for the name of a device, the newest first.
    static let deviceSessionsMax = 256
    /// The most events of a page.
    static let eventsPageMax = 200

    /// Searches for accounts, and records the search in the audit log: for each account found, or for none.
    ///
    /// - Parameters:
    ///   - key: nil if it is known already that no account matches.
    ///   - word: the kind of the key, for the audit log.
    ///   - term: the hash of what was looked for; nil for none.
    ///   - reason: why; nil for none.
    ///   - operatorName: the name in the operator's certificate; nil where callers have none.
    /// - Returns: the accounts, the oldest first, at most ``accountsFoundMax``, and whether there are more.
    func findAccounts(
        _ key: AccountKey?,
        by word: String,
        term: String? = nil,
        reason: BlockReason? = nil,
        _ operatorName: String?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> (found: [AccountStanding], hasMore: Bool) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let parts = AccountKeyParts(key)
        let rows = try await database.execute(
            """
            WITH devices AS MATERIALIZED (
                SELECT user_id FROM sessions
                WHERE device_name IS NOT NULL AND lower(left(device_name, 50)) = lower(left(\(parts.device)::text, 50))
                    AND lower(device_name) = lower(\(parts.device)::text)
                ORDER BY session_id DESC LIMIT \(Int64(Self.deviceSessionsMax + 1))
            ), found AS MATERIALIZED (
                SELECT user_id, created_at, blocked_at, block_reason FROM accounts
                WHERE user_id IN (
                    SELECT unnest(\(parts.userIDs.map(\.uuid))::uuid[])
                    UNION ALL SELECT user_id FROM provider_identities WHERE lower(email) = lower(\(parts.email)::text)
                    UNION ALL SELECT user_id FROM imported_ids
                        WHERE source = \(parts.imported?.source) AND old_id = \(parts.imported?.oldID)
                    UNION ALL SELECT user_id FROM provider_identities
                        WHERE provider = \(parts.identity?.provider) AND subject = \(parts.identity?.subject)
                    UNION ALL SELECT user_id FROM sessions WHERE session_id = \(parts.session?.uuid)
                    UNION ALL SELECT user_id FROM devices)
                ORDER BY created_at, user_id LIMIT \(Int64(Self.accountsFoundMax + 1))
            ), told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.accountFound.rawValue), \(now),
                    jsonb_strip_nulls(jsonb_build_object('by', \(word)::text, 'term', \(term)::text,
                        'reason', \(reason?.word)::text, 'operator', \(operatorName)::text))
                FROM (SELECT user_id FROM found
                    UNION ALL SELECT NULL WHERE NOT EXISTS (SELECT FROM found)) looked
            )
            SELECT user_id, blocked_at, block_reason, (
                SELECT count(*) FROM sessions session
                WHERE session.user_id = found.user_id AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
                    AND last_used_at > \(idleStart(now))),
                (SELECT count(*) FROM devices) > \(Int64(Self.deviceSessionsMax))
            FROM found ORDER BY created_at, user_id
            """,
            deadline: deadline
        )
        var (found, isCut): ([AccountStanding], Bool) = ([], false)
        for row in rows {
            let (userID, blockedAt, reason, liveSessions, hasMoreSessions) = try row.decode(
                PostgresUUID.self,
                PostgresTimestamp?.self,
                String?.self,
                Int64.self,
                Bool.self
            )
            isCut = hasMoreSessions
            let block = blockedAt.map { StoredBlock(sinceMilliseconds: $0.milliseconds, reason: reason ?? "") }
            found.append(AccountStanding(userID: UserID(userID), block: block, liveSessions: liveSessions))
        }
        return (Array(found.prefix(Self.accountsFoundMax)), isCut || found.count > Self.accountsFoundMax)
    }

    /// Returns whether the account exists.
    func isThere(_ userID: UserID, deadline: Deadline?) async throws(PostgresError) -> Bool {
        try await !database.query("SELECT FROM accounts WHERE user_id = \(userID.uuid)", deadline: deadline).isEmpty
    }

    /// Records that an operator takes a phone number from an account, before profile is called.
    func tellPhoneReleased(
        of userID: UserID,
        by operatorName: String?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        _ = try await database.execute(
            """
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(userID.uuid), \(SecurityEvent.phoneReleased.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('operator', \(operatorName)::text)))
            """,
            deadline: deadline
        )
    }

    /// The audit log of an account, newest first. Also records the read, which isn't in the result.
    ///
    /// - Parameter last: the last event of the page before; nil for the first page.
    func securityEvents(
        of userID: UserID,
        after last: EventID?,
        limit: Int,
        by operatorName: String?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> [StoredSecurityEvent] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            WITH told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                VALUES (security_event_id(\(now), false), \(userID.uuid), \(SecurityEvent.accountFound.rawValue), \(now),
                    jsonb_strip_nulls(jsonb_build_object('by', 'events', 'operator', \(operatorName)::text)))
            )
            SELECT event_id, kind, occurred_at, session_id, details::text FROM security_events
            WHERE user_id = \(userID.uuid) AND (\(last?.uuid) IS NULL OR event_id < \(last?.uuid))
            ORDER BY event_id DESC LIMIT \(Int64(limit))
            """,
            deadline: deadline
        )
        var events: [StoredSecurityEvent] = []
        for row in rows {
            let (eventID, kind, occurredAt, sessionID, details) = try row.decode(
                PostgresUUID.self,
                String.self,
                PostgresTimestamp.self,
                PostgresUUID?.self,
                String.self
            )
            events.append(
                StoredSecurityEvent(
                    eventID: EventID(eventID),
                    kind: kind,
                    occurredAtMilliseconds: occurredAt.milliseconds,
                    sessionID: sessionID.map { SessionID($0) },
                    details: details
                )
            )
        }
        return events
    }
}
