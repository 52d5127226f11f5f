import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// Links by which people join groups, in PostgreSQL.
struct GroupLinkStore: Sendable {
    /// How long the group of an ended link is remembered, so that its token isn't taken for a wrong one.
    static let keptMilliseconds: Int64 = 30 * 86_400_000

    let database: PostgresClient

    /// Makes a link.
    ///
    /// - Returns: the link and its token, which is never returned again.
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient``, ``InvitationError/tooManyLinks(linksMax:)`` or
    ///   ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func create(
        _ new: NewGroupLink,
        id: GroupLinkID,
        for groupID: GroupID,
        by userID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> (link: GroupLink, token: GroupLinkToken) {
        let token = GroupLinkToken(of: id)
        let link = GroupLink(
            id: id,
            groupID: groupID,
            createdBy: userID,
            createdAtMilliseconds: nowMilliseconds,
            expiresAtMilliseconds: nowMilliseconds + Int64(new.lifetimeSeconds) * 1_000,
            usesMax: new.usesMax,
            uses: 0
        )
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        try await database.withTransaction(deadline: deadline) { transaction in
            // The group's lock orders all changes of its links.
            let group = try await GroupStore.lock(groupID, for: userID, in: transaction)
            try GroupPolicy.require(group.callerRole, .manageLinks)
            let wait = try await QuotaStore.spend(
                limits.userLinks,
                of: userID.bytes,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
            if let wait { throw InvitesError.tooManyAttempts(retryAfterMilliseconds: wait) }
            // The creator counts as having used it: a link is no way back for a member who was removed.
            let made = try await transaction.execute(
                """
                WITH made AS (
                    INSERT INTO group_links (link_id, group_id, secret_hash, created_by, created_at, expires_at, uses_max)
                    SELECT \(id.uuid), \(groupID.uuid), \(token.secretHash), \(userID.uuid), \(now),
                        \(PostgresTimestamp(milliseconds: link.expiresAtMilliseconds)), \(new.usesMax.map { Int32($0) })
                    WHERE (
                        SELECT count(*) FROM group_links WHERE group_id = \(groupID.uuid) AND revoked_at IS NULL
                            AND expires_at > \(now) AND (uses_max IS NULL OR uses < uses_max)
                    ) < \(GroupLink.linksMax)
                    RETURNING link_id
                )
                INSERT INTO group_link_uses (link_id, user_id, used_at) SELECT link_id, \(userID.uuid), \(now) FROM made
                """
            )
            guard made.affected == 1 else {
                throw InvitesError.invitation(.tooManyLinks(linksMax: GroupLink.linksMax))
            }
        }
        return (link, token)
    }

    /// A group's links that are good, newest first.
    ///
    /// - Throws: ``InvitesError/notAMember`` or ``InvitesError/roleInsufficient``.
    func list(
        of groupID: GroupID,
        askedBy userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> [GroupLink] {
        let group = try await GroupStore(database: database).group(groupID, askedBy: userID, deadline: deadline)
        guard let group else { throw InvitesError.notAMember }
        try GroupPolicy.require(group.callerRole, .manageLinks)
        let rows = try await database.query(
            """
            SELECT link_id, NULLIF(created_by, \(AccountStore.nobody)), created_at, expires_at, uses_max, uses
            FROM group_links
            WHERE group_id = \(groupID.uuid) AND revoked_at IS NULL
                AND expires_at > \(PostgresTimestamp(milliseconds: nowMilliseconds))
                AND (uses_max IS NULL OR uses < uses_max)
            ORDER BY link_id DESC
            LIMIT \(GroupLink.linksMax)
            """,
            deadline: deadline
        )
        return try rows.map { row in
            GroupLink(
                id: GroupLinkID(try row.decode(0, as: PostgresUUID.self)),
                groupID: groupID,
                createdBy: try row.decode(1, as: PostgresUUID?.self).map { UserID($0) },
                createdAtMilliseconds: try row.decode(2, as: PostgresTimestamp.self).milliseconds,
                expiresAtMilliseconds: try row.decode(3, as: PostgresTimestamp.self).milliseconds,
                usesMax: try row.decode(4, as: Int32?.self).map { Int($0) },
                uses: Int(try row.decode(5, as: Int32.self))
            )
        }
    }

    /// Ends a link. Succeeds if it has ended, or doesn't exist.
    ///
    /// - Throws: ``InvitesError/notAMember`` or ``InvitesError/roleInsufficient``.
    func revoke(
        _ id: GroupLinkID,
        of groupID: GroupID,
        by userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            let group = try await GroupStore.lock(groupID, for: userID, in: transaction)
            try GroupPolicy.require(group.callerRole, .manageLinks)
            try await transaction.execute(
                """
                UPDATE group_links SET revoked_at = \(PostgresTimestamp(milliseconds: nowMilliseconds))
                WHERE link_id = \(id.uuid) AND group_id = \(groupID.uuid) AND revoked_at IS NULL
                """
            )
        }
    }

    /// Ends all links to groups, which are locked, that a removed user made.
    static func revokeAll(
        madeBy userID: PostgresUUID,
        in groups: [PostgresUUID],
        _ nowMilliseconds: Int64,
        _ transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            UPDATE group_links SET revoked_at = \(PostgresTimestamp(milliseconds: nowMilliseconds))
            WHERE created_by = \(userID) AND group_id = ANY(\(groups)) AND revoked_at IS NULL
            """
        )
    }

    /// Deletes links that expired long ago, at most `limit` of them, and returns how many.
    func forgetExpired(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.keptMilliseconds)
        return try await database.execute(
            """
            DELETE FROM group_links WHERE link_id IN (
                SELECT link_id FROM group_links WHERE expires_at <= \(before)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}
