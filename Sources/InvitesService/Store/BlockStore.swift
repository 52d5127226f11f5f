import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// The inviters whom users block, in PostgreSQL.
struct BlockStore: Sendable {
    /// The maximum of users that a user may block.
    static let blockedMax = 1_000
    /// The quota whose row orders the blocks of one user; it counts nothing.
    private static let order = Quota.daily("blocks", countMax: blockedMax)
    /// Unblocks of a user: the user's devices get an event for each, and for the block before. Blocking itself is never refused for that.
    private static let unblocks = Quota.daily("unblocks", countMax: blockedMax)

    let database: PostgresClient

    /// A blocked user.
    struct Blocked: Sendable {
        /// The user.
        let userID: UserID
        /// When the block began, in Unix milliseconds.
        let sinceMilliseconds: Int64
    }

    /// Blocks a user, who may be unknown here. Blocking again changes nothing.
    ///
    /// - Throws: ``InvitationError/tooManyBlocked(blockedMax:)``.
    func block(_ inviterID: UserID, by userID: UserID, nowMilliseconds: Int64, deadline: Deadline?) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            try await QuotaStore.lock(
                Self.order,
                of: userID.bytes,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
            try await Admission.requireOpenAccount(userID, in: transaction)
            let row = try await transaction.execute(
                """
                WITH earlier AS MATERIALIZED (
                    SELECT FROM blocked_inviters WHERE user_id = \(userID.uuid) AND inviter_user_id = \(inviterID.uuid)
                ), blocked AS (
                    INSERT INTO blocked_inviters (user_id, inviter_user_id, blocked_at)
                    SELECT \(userID.uuid), \(inviterID.uuid), \(now)
                    WHERE (SELECT count(*) FROM blocked_inviters WHERE user_id = \(userID.uuid)) < \(Self.blockedMax)
                        AND NOT EXISTS (SELECT FROM earlier)
                    RETURNING user_id
                )
                SELECT EXISTS (SELECT FROM earlier), EXISTS (SELECT FROM blocked)
                """
            )[0]
            let (isEarlier, isNew) = try row.decode(Bool.self, Bool.self)
            if isNew { return try await tell(userID, about: inviterID, in: transaction) }
            guard isEarlier else { throw InvitesError.invitation(.tooManyBlocked(blockedMax: Self.blockedMax)) }
        }
    }

    /// Unblocks a user, and makes the caller a member of open groups to which that user has added the caller's number meanwhile.
    ///
    /// - Throws: ``InvitesError/accountHeld``, ``InvitesError/accountClosed`` or
    ///   ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func unblock(
        _ inviterID: UserID,
        by userID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        try await ConflictRetry.run {
            try await end(inviterID, of: userID, limits: limits, nowMilliseconds: nowMilliseconds, deadline: deadline)
        }
    }

    private func end(
        _ inviterID: UserID,
        of userID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            orAfter: ConflictRetry.isRace,
            deadline: deadline
        ) { transaction in
            // Before all locks. Unblocking a user who isn't blocked always succeeds.
            let blocked = try await transaction.query(
                """
                SELECT FROM blocked_inviters WHERE user_id = \(userID.uuid) AND inviter_user_id = \(inviterID.uuid)
                """
            )
            if !blocked.isEmpty {
                try await UserCount.requireRoom(Self.unblocks, of: userID, nowMilliseconds, in: transaction)
            }
            let phones = try await Admission.lockPhones(of: userID, in: transaction)
            try await Admission.requireOpenAccount(userID, in: transaction)
            let ended = try await transaction.execute(
                """
                DELETE FROM blocked_inviters WHERE user_id = \(userID.uuid) AND inviter_user_id = \(inviterID.uuid)
                """
            )
            guard ended.affected == 1 else { return }
            try await tell(userID, about: inviterID, in: transaction)
            let links = phones.compactMap(PhoneNumber.init(stored:)).map {
                PhoneLedger.Link(phone: $0, userID: userID)
            }
            if try await PhoneStore.lockGroups(waitingFor: links, in: transaction).areThere {
                let now = PostgresTimestamp(milliseconds: nowMilliseconds)
                _ = try await PhoneStore.link(
                    links,
                    now,
                    membershipsMax: limits.membershipsMax,
                    in: transaction
                )
            }
            try await UserCount.spend(Self.unblocks, of: userID, nowMilliseconds, in: transaction)
        }
    }

    /// Sends an event to the user's own devices, and to nobody else, that their invitations may have changed, if the inviter added them
    /// anywhere.
    private func tell(
        _ userID: UserID,
        about inviterID: UserID,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO group_events (kind, user_id)
            SELECT \(GroupChange.Kind.invitationChanged.rawValue), \(userID.uuid) WHERE EXISTS (
                SELECT FROM phones p JOIN members m ON m.phone = p.phone AND m.user_id IS NULL
                WHERE p.user_id = \(userID.uuid) AND \(inviterID.uuid) = ANY(m.added_by || m.also_added_by))
            """
        )
    }

    /// The users whom a user blocks, in the order of their ids, at most `limit` of them, after the last one of the previous page.
    func list(
        of userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws -> [Blocked] {
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) }
        let rows = try await database.query(
            """
            SELECT inviter_user_id, blocked_at FROM blocked_inviters
            WHERE user_id = \(userID.uuid) AND (\(after)::uuid IS NULL OR inviter_user_id > \(after))
            ORDER BY inviter_user_id
            LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.map { row in
            Blocked(
                userID: UserID(try row.decode(0, as: PostgresUUID.self)),
                sinceMilliseconds: try row.decode(1, as: PostgresTimestamp.self).milliseconds
            )
        }
    }
}
