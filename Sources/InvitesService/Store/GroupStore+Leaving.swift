import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

extension GroupStore {
    /// Deletes a group with all its members.
    ///
    /// - Throws: ``InvitesError/notAMember``, or ``InvitesError/roleInsufficient``.
    func delete(_ groupID: GroupID, by callerID: UserID, deadline: Deadline?) async throws {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            let group = try await Self.lock(groupID, for: callerID, in: transaction)
            try GroupPolicy.require(group.callerRole, .delete)
            try await delete(groupID, in: transaction)
        }
    }

    /// Removes a user from a group; the last member with an open account deletes the group by leaving. Succeeds for a user who isn't in it.
    ///
    /// An owner who got the group from another user never asked for it: when they leave, it goes to the heir as if their account were
    /// closed.
    ///
    /// - Throws: ``InvitesError/ownerMustHandOver`` for the owner who made the group, while others are members.
    func leave(_ groupID: GroupID, _ userID: UserID, deadline: Deadline?) async throws {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            let group: Group
            do { group = try await Self.lock(groupID, for: userID, in: transaction) } catch InvitesError.notAMember {
                return
            }
            guard group.callerRole == .owner else {
                return try await AccountStore.leave([groupID.uuid], userID.uuid, in: transaction)
            }
            let others = try await transaction.query(
                """
                SELECT FROM members m WHERE group_id = \(groupID.uuid) AND user_id IS NOT NULL AND user_id <> \(userID.uuid)
                    AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = m.user_id)
                LIMIT 1
                """
            )
            if others.isEmpty { return try await delete(groupID, in: transaction) }
            let made = try await transaction.query(
                """
                SELECT FROM groups WHERE group_id = \(groupID.uuid) AND created_by = \(userID.uuid)
                """
            )
            guard made.isEmpty else { throw InvitesError.ownerMustHandOver }
            try await AccountStore.leave([groupID.uuid], userID.uuid, in: transaction)
            try await AccountStore.giveToHeirs([groupID.uuid], of: userID.uuid, in: transaction)
        }
    }

    /// Makes another member the owner; the previous owner stays as an admin. A member by their number alone can't get a group: only an
    /// admin, or a member who was confirmed or came by a link. It counts against a quota, since all subscribers of the group get an event.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient`` if the caller isn't the owner,
    ///   ``InvitesError/memberNotFound`` if the id isn't a member's, ``InvitationError/memberNotConfirmed``, or
    ///   ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func handOver(
        _ groupID: GroupID,
        to memberID: MemberID,
        by callerID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Group {
        try await database.withTransaction(retries: ConflictRetry.retriesMax, deadline: deadline) { transaction in
            let group = try await Self.lock(groupID, for: callerID, in: transaction)
            let rows = try await transaction.query(
                """
                SELECT user_id, (role = \(GroupRole.admin.rawValue) OR confirmed_by IS NOT NULL) AND unconfirmed_at IS NULL
                FROM members m
                WHERE group_id = \(groupID.uuid) AND member_id = \(memberID.uuid) AND user_id IS NOT NULL
                    AND (m.user_id = \(group.ownerID.uuid)
                        OR NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = m.user_id))
                FOR UPDATE
                """
            )
            let heir = try rows.first.map { UserID(try $0.decode(0, as: PostgresUUID.self)) }
            if heir == group.ownerID { return group }
            try GroupPolicy.require(group.callerRole, .handOver)
            guard let heir, let row = rows.first else { throw InvitesError.memberNotFound }
            guard try row.decode(1, as: Bool.self) else { throw InvitesError.invitation(.memberNotConfirmed) }
            try await transaction.execute(
                """
                WITH earlier AS (
                    UPDATE members SET role = \(GroupRole.admin.rawValue)
                    WHERE group_id = \(groupID.uuid) AND user_id = \(callerID.uuid)
                )
                UPDATE groups SET owner_user_id = \(heir.uuid) WHERE group_id = \(groupID.uuid)
                """
            )
            try await UserCount.spend(limits.userGroupChanges, of: callerID, nowMilliseconds, in: transaction)
            return Group(
                id: group.id,
                name: group.name,
                ownerID: heir,
                openness: group.openness,
                callerRole: .admin,
                createdAtMilliseconds: group.createdAtMilliseconds
            )
        }
    }

    /// Deletes a group that is locked, so that nobody adds to it.
    private func delete(_ groupID: GroupID, in transaction: PostgresTransaction) async throws {
        let rows = try await transaction.execute(
            "DELETE FROM members WHERE group_id = \(groupID.uuid) RETURNING phone"
        )
        try await transaction.execute("DELETE FROM groups WHERE group_id = \(groupID.uuid)")
        try await PhoneStore.forgetUnused(rows, in: transaction)
    }
}
