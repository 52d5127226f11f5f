import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// Members of groups, in PostgreSQL.
///
/// A number's row in `phones` is the lock that decides: a call that adds a number to a group and a call that applies that number's events
/// take it first. So an invitation and a registration at the same moment happen one after the other, and either order ends with one member.
struct MemberStore: Sendable {
    let database: PostgresClient

    /// Less than every UUID that is made.
    private static let firstUUID = PostgresUUID(high: 0, low: 0)

    /// A group's members, oldest first, at most `limit` of them, after the last one of the previous page.
    ///
    /// - Throws: ``InvitesError/notAMember`` if the caller isn't one of them.
    func list(
        of groupID: GroupID,
        askedBy userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> [Member] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.firstUUID
        // One row of nulls distinguishes an empty page from an outsider, who gets no row at all.
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns), caller.owner_user_id, caller.openness, caller.role
            FROM (
                SELECT g.group_id, g.owner_user_id, g.openness, c.role FROM members c JOIN groups g ON g.group_id = c.group_id
                WHERE c.user_id = \(userID.uuid) AND c.group_id = \(groupID.uuid)
            ) AS caller
            LEFT JOIN LATERAL (
                SELECT * FROM members
                WHERE group_id = caller.group_id AND member_id > \(after)
                    AND (user_id IS NOT NULL OR expires_at IS NULL OR expires_at > \(now))
                ORDER BY member_id
                LIMIT \(limit)
            ) AS m ON true
            ORDER BY m.member_id
            """,
            deadline: deadline
        )
        guard let first = rows.first else { throw InvitesError.notAMember }
        let owner = UserID(try first.decode(MemberRow.columnCount, as: PostgresUUID.self))
        let openness = try GroupRow.openness(first, at: MemberRow.columnCount + 1)
        let role = try MemberRow.role(first, at: MemberRow.columnCount + 2, isOwner: userID == owner)
        let viewer = MemberViewer(userID: userID, role: role)
        return try rows.compactMap { try MemberRow.member($0, owner: owner, openness: openness, viewer: viewer) }
    }

    /// Throws for a member who can't add or confirm anybody (`GroupPolicy.isUnproven`).
    ///
    /// - Throws: ``InvitationError/memberUnconfirmed``.
    static func requireProven(
        _ userID: UserID,
        _ role: GroupRole,
        in groupID: GroupID,
        _ transaction: PostgresTransaction
    ) async throws {
        guard GroupPolicy.isUnproven(role, byUnprovenNumber: true) else { return }
        let rows = try await transaction.query(
            """
            SELECT FROM members m
            WHERE m.user_id = \(userID.uuid) AND m.group_id = \(groupID.uuid) AND \(unsafeSQL: MemberRow.isUnproven)
            """
        )
        guard rows.isEmpty else { throw InvitesError.invitation(.memberUnconfirmed) }
    }

    /// Removes a member with the links that they made, or revokes a pending invitation. Succeeds if there is no such member.
    ///
    /// - Throws: ``InvitesError/notAMember``, or ``InvitesError/roleInsufficient`` if the caller may not.
    func remove(
        _ memberID: MemberID,
        from groupID: GroupID,
        by callerID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws {
        try await ConflictRetry.run {
            try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
                try await remove(memberID, from: groupID, by: callerID, nowMilliseconds, in: transaction)
            }
        }
    }

    private func remove(
        _ memberID: MemberID,
        from groupID: GroupID,
        by callerID: UserID,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        // The number before the group, as everywhere; then nobody links the person meanwhile.
        let phone = try await awaitedPhone(memberID, in: groupID, for: callerID, transaction)
        if let phone { _ = try await PhoneStore.lock([phone], in: transaction) }
        let group = try await GroupStore.lock(groupID, for: callerID, in: transaction)
        let rows = try await transaction.query(
            """
            SELECT user_id, role, added_by = \(callerID.uuid) FROM members
            WHERE group_id = \(groupID.uuid) AND member_id = \(memberID.uuid)
            FOR UPDATE
            """
        )
        guard let row = rows.first else {
            // The pending person was deleted after the first read.
            if let phone { try await PhoneStore.forgetUnused([phone], in: transaction) }
            return try await PendingStore.reject(memberID, in: group, transaction)
        }
        if let userID = try row.decode(0, as: PostgresUUID?.self) {
            let role = try MemberRow.role(row, at: 1, isOwner: UserID(userID) == group.ownerID)
            try GroupPolicy.require(group.callerRole, .remove(role))
            try await GroupLinkStore.revokeAll(madeBy: userID, in: [groupID.uuid], nowMilliseconds, transaction)
            return try await AccountStore.leave([groupID.uuid], userID, in: transaction)
        }
        try GroupPolicy.require(group.callerRole, .revoke(addedByCaller: try row.decode(2, as: Bool.self)))
        // The row was a member's at the first read and is pending now: the number isn't locked.
        guard let phone else { throw ConflictRetry.LostRace() }
        try await transaction.execute(
            "DELETE FROM members WHERE group_id = \(groupID.uuid) AND member_id = \(memberID.uuid)"
        )
        try await PhoneStore.forgetUnused([phone], in: transaction)
    }

    /// Makes a member an admin or a plain member. A change of the role counts against a quota, since all subscribers of the group get an
    /// event.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient`` if the caller isn't the owner, or is the member,
    ///   ``InvitesError/memberNotFound`` or ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func setRole(
        _ role: GroupRole,
        of memberID: MemberID,
        in groupID: GroupID,
        by callerID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Member {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            let group = try await GroupStore.lock(groupID, for: callerID, in: transaction)
            try GroupPolicy.require(group.callerRole, .changeRoles)
            let member = try await Admission.member(memberID, of: groupID, seenBy: callerID, in: transaction)
            guard let earlier = member.role else { throw InvitesError.memberNotFound }
            guard earlier != .owner else { throw InvitesError.roleInsufficient }
            if earlier == role { return member }
            try await transaction.execute(
                """
                UPDATE members SET role = \(role.rawValue)
                WHERE group_id = \(groupID.uuid) AND member_id = \(memberID.uuid) AND user_id IS NOT NULL
                """
            )
            try await UserCount.spend(limits.userGroupChanges, of: callerID, nowMilliseconds, in: transaction)
            return try await Admission.member(memberID, of: groupID, seenBy: callerID, in: transaction)
        }
    }

    /// The number of an awaited person; nil for a member, for an unknown id, and for outsiders, who must not lock it.
    private func awaitedPhone(
        _ memberID: MemberID,
        in groupID: GroupID,
        for callerID: UserID,
        _ transaction: PostgresTransaction
    ) async throws -> PhoneNumber? {
        let rows = try await transaction.query(
            """
            SELECT phone FROM members
            WHERE group_id = \(groupID.uuid) AND member_id = \(memberID.uuid) AND user_id IS NULL AND EXISTS (
                SELECT FROM members c WHERE c.user_id = \(callerID.uuid) AND c.group_id = \(groupID.uuid)
            )
            """
        )
        return try rows.first.flatMap { PhoneNumber(stored: try $0.decode(0, as: String.self)) }
    }
}
