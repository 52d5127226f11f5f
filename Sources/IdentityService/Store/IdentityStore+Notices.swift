import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// The key of a stored event of a provider's message.
struct NoticeKey: Sendable, Hashable {
    let provider: String
    let identifier: String
    let number: Int16
}

/// The result of applying a stored event.
struct AppliedNotice: Sendable, Hashable {
    let provider: String
    let kind: NoticeKind
    /// The account here; nil if the event is about no account that we know.
    let userID: UserID?
    /// How many sessions it ended.
    let endedSessions: Int64
}

extension IdentityStore {
    /// The most due events that are read at once.
    static let noticesReadMax = 64
    /// The limit of a statement about notices.
    static let noticeStatementLimit: Duration = .seconds(30)
    private static let applyingRetriesMax = 3

    // MARK: - Storing

    /// Stores a verified message, to be applied later: all of its events or none.
    ///
    /// - Returns: false if it had been stored before; then nothing was done.
    func keep(
        _ notice: ProviderNotice,
        from sender: NoticeSender,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(deadline: deadline) { transaction in
            for (number, event) in notice.events.enumerated() {
                let rows = try await transaction.execute(
                    """
                    INSERT INTO provider_notices
                        (provider, jti, number, kind, reason, subject, told_at, received_at, retry_at)
                    VALUES (\(sender.rawValue), \(notice.identifier), \(Int16(number)), \(event.kind.rawValue),
                        \(event.reason?.rawValue), \(event.subject),
                        \(PostgresTimestamp(milliseconds: event.atMilliseconds)), \(now), \(now))
                    ON CONFLICT DO NOTHING
                    """
                )
                // The first call with this identifier has stored all of it: the others wait for its end here.
                if rows.affected == 0 { return false }
            }
            return true
        }
    }

    // MARK: - Applying

    /// Events that are due now, those due longest first.
    func dueNotices(nowMilliseconds: Int64) async throws(PostgresError) -> [NoticeKey] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT provider, jti, number FROM provider_notices WHERE applied_at IS NULL AND retry_at <= \(now)
            ORDER BY retry_at, provider, jti, number LIMIT \(Self.noticesReadMax)
            """,
            deadline: .after(Self.noticeStatementLimit)
        )
        var keys: [NoticeKey] = []
        for row in rows {
            let (provider, identifier, number) = try row.decode(String.self, String.self, Int16.self)
            keys.append(NoticeKey(provider: provider, identifier: identifier, number: number))
        }
        return keys
    }

    /// Applies a stored event and forgets its subject, in one transaction: it happens wholly and once, even if this process stops.
    ///
    /// Locks are taken in the order of a sign-in: the identity, then sessions in the order of their ids. A sign-in at the same moment
    /// comes before, and its session ends too, or after, and is judged by the state here then.
    ///
    /// - Returns: the result; nil if the event was applied before, or another replica is applying it.
    func apply(_ key: NoticeKey, nowMilliseconds: Int64) async throws -> AppliedNotice? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: Self.applyingRetriesMax,
            deadline: .after(Self.noticeStatementLimit)
        ) { transaction in
            let row = try await transaction.query(
                """
                SELECT kind, reason, subject, told_at FROM provider_notices
                WHERE provider = \(key.provider) AND jti = \(key.identifier) AND number = \(key.number)
                    AND applied_at IS NULL
                FOR UPDATE SKIP LOCKED
                """
            ).first
            guard let row else { return nil }
            let event = try event(row)
            let userID = try await account(of: event, provider: key.provider, in: transaction)
            var ended: Int64 = 0
            if let userID {
                ended = try await change(event, provider: key.provider, userID: userID, now, in: transaction)
            }
            try await transaction.execute(
                """
                UPDATE provider_notices SET applied_at = \(now), subject = NULL
                WHERE provider = \(key.provider) AND jti = \(key.identifier) AND number = \(key.number)
                """
            )
            return AppliedNotice(provider: key.provider, kind: event.kind, userID: userID, endedSessions: ended)
        }
    }

    /// Postpones an event that could not be applied.
    func postpone(_ key: NoticeKey, nowMilliseconds: Int64) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // Twice as long each time, up to ten minutes.
        _ = try await database.execute(
            """
            UPDATE provider_notices SET failures = failures + 1,
                retry_at = \(now) + LEAST(600, power(2, LEAST(failures, 10))) * interval '1 second'
            WHERE provider = \(key.provider) AND jti = \(key.identifier) AND number = \(key.number)
                AND applied_at IS NULL
            """,
            deadline: .after(Self.noticeStatementLimit)
        )
    }

    /// Forgets messages that are too old to come again, at most `limit` events of them, and returns how many, and how many of these could
    /// never be applied.
    func forgetNotices(
        nowMilliseconds: Int64,
        limit: Int
    ) async throws(PostgresError) -> (count: Int, lost: Int) {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - ProviderNotice.rememberedSeconds * 1000)
        let rows = try await database.execute(
            """
            DELETE FROM provider_notices WHERE (provider, jti, number) IN (
                SELECT provider, jti, number FROM provider_notices WHERE received_at <= \(before)
                ORDER BY received_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING applied_at IS NULL
            """
        )
        var lost = 0
        for row in rows where try row.decode(0, as: Bool.self) { lost += 1 }
        return (rows.count, lost)
    }

    // MARK: - Steps of applying

    private func event(_ row: Row) throws(PostgresError) -> NoticeEvent {
        let (kind, reason, subject, toldAt) = try row.decode(
            String.self,
            String?.self,
            String?.self,
            PostgresTimestamp.self
        )
        return NoticeEvent(
            // A kind that a later version stored is unknown to this one.
            kind: NoticeKind(rawValue: kind) ?? .other,
            reason: reason.flatMap(DisablingReason.init(rawValue:)),
            subject: subject,
            atMilliseconds: toldAt.milliseconds
        )
    }

    /// Locks the identity and returns its account.
    private func account(
        of event: NoticeEvent,
        provider: String,
        in transaction: PostgresTransaction
    ) async throws -> UserID? {
        guard let subject = event.subject else { return nil }
        let row = try await transaction.query(
            """
            SELECT user_id FROM provider_identities WHERE provider = \(provider) AND subject = \(subject)
            FOR NO KEY UPDATE
            """
        ).first
        return try row.map { UserID(try $0.decode(0, as: PostgresUUID.self)) }
    }

    /// Applies the event's change and records it in the audit log; returns how many sessions ended.
    private func change(
        _ event: NoticeEvent,
        provider: String,
        userID: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Int64 {
        var endsSessions = false
        switch event.effect {
        case .endSessions:
            endsSessions = true
        case .disable(let endsSessionsToo):
            endsSessions = endsSessionsToo
            try await transaction.execute(Self.accountChange(event, provider: provider, isDisabled: true))
        case .enable:
            try await transaction.execute(Self.accountChange(event, provider: provider, isDisabled: false))
        case .email(let isReachable):
            try await transaction.execute(Self.emailChange(event, provider: provider, isReachable: isReachable))
        case .record, .log:
            break
        }
        var ended: Int64 = 0
        if endsSessions {
            try await transaction.execute(Self.endOfTokens(event, provider: provider))
            ended = Int64(try await transaction.execute(Self.endOfSessions(userID, provider: provider, now)).affected)
        }
        try await transaction.execute(
            """
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(userID.uuid), \(SecurityEvent.providerNotice.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('provider', \(provider)::text, 'notice', \(event.kind.rawValue)::text,
                    'reason', \(event.reason?.rawValue)::text, 'sessions', \(ended)::bigint)))
            """
        )
        return ended
    }

    private static func accountChange(_ event: NoticeEvent, provider: String, isDisabled: Bool) -> Query {
        let toldAt = PostgresTimestamp(milliseconds: event.atMilliseconds)
        return """
            UPDATE provider_identities SET disabled_at = CASE WHEN \(isDisabled) THEN \(toldAt) END,
                account_told_at = \(toldAt)
            WHERE provider = \(provider) AND subject = \(event.subject)
                AND (account_told_at IS NULL OR account_told_at <= \(toldAt))
            """
    }

    private static func emailChange(_ event: NoticeEvent, provider: String, isReachable: Bool) -> Query {
        let toldAt = PostgresTimestamp(milliseconds: event.atMilliseconds)
        return """
            UPDATE provider_identities SET is_email_unreachable = NOT \(isReachable), email_told_at = \(toldAt)
            WHERE provider = \(provider) AND subject = \(event.subject)
                AND (email_told_at IS NULL OR email_told_at <= \(toldAt))
            """
    }

    /// Tokens state their issue time in whole seconds.
    private static func endOfTokens(_ event: NoticeEvent, provider: String) -> Query {
        let from = PostgresTimestamp(secondsSince1970: event.atMilliseconds / 1000)
        return """
            UPDATE provider_identities SET tokens_from = GREATEST(tokens_from, \(from))
            WHERE provider = \(provider) AND subject = \(event.subject)
            """
    }

    /// All current sessions: for one that was begun since the event it is unknown whether its token is from before.
    private static func endOfSessions(_ userID: UserID, provider: String, _ now: PostgresTimestamp) -> Query {
        """
        WITH locked AS MATERIALIZED (
            SELECT session_id FROM sessions session
            WHERE user_id = \(userID.uuid) AND provider = \(provider) AND NOT \(unsafeSQL: Self.isEnded)
                AND expires_at > \(now)
            ORDER BY session_id FOR UPDATE
        )
        UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.byProvider.rawValue),
            expires_at = LEAST(sessions.expires_at, \(now))
        FROM locked WHERE sessions.session_id = locked.session_id AND sessions.revoked_at IS NULL
        """
    }
}
