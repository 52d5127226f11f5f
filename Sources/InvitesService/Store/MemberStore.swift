import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Members of groups, in PostgreSQL.
///
/// A number's row in `phones` is the lock that decides: whoever adds a number to a group and whoever applies that
/// number's events take it first. So an invitation and a registration at the same moment happen one after the other,
/// and either order ends with one member.
struct MemberStore: Sendable {
    let database: PostgresClient

    /// Who is to be added, by whom and to what.
    struct NewMember: Sendable {
        /// The group.
        let groupID: GroupID
        /// The member who adds.
        let callerID: UserID
        /// The person.
        let invitee: Invitee
        /// The id of the new membership, if there will be one.
        let memberID: MemberID
        /// The code of the address that the call came from, nil if it isn't told.
        let addressCode: [UInt8]?
        /// Now, in Unix milliseconds.
        let nowMilliseconds: Int64
    }

    /// Adds a person to a group, or finds them in it, in one transaction.
    ///
    /// Locks are taken in the same order by everyone: the number, then the group, then the counts of quotas.
    ///
    /// - Throws: ``InvitesFault/notAMember``, ``InvitesFault/groupFull(membersMax:)`` or
    ///   ``InvitesFault/tooManyAttempts(retryAfterMilliseconds:)``.
    func add(
        _ new: NewMember,
        limits: InvitesLimits,
        deadline: Deadline?
    ) async throws -> Member {
        try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            orAfter: ConflictRetry.isRace,
            deadline: deadline
        ) { transaction in
            let owner = try await lock(new.invitee.phone, in: transaction)
            try await lock(new.groupID, for: new.callerID, in: transaction)
            let (related, memberCount) = try await related(to: new, owner: owner, in: transaction)
            let decision = Addition.decide(
                phoneOwner: owner,
                related: related,
                memberCount: memberCount,
                membersMax: limits.membersMax
            )
            let member: Member
            switch decision {
            case .existing(let existing):
                // A repetition is free; that a member has this number too is news.
                if existing.phone == new.invitee.phone { return existing }
                member = existing
            case .full: throw InvitesFault.groupFull(membersMax: limits.membersMax)
            case .member(let userID): member = try await insert(new, userID, in: transaction)
            case .pending: member = try await insert(new, nil, in: transaction)
            }
            try await spend(new, limits, in: transaction)
            return member
        }
    }

    /// A group's members, oldest first, at most `limit` of them, after the one that the page before ended with.
    ///
    /// - Throws: ``InvitesFault/notAMember`` if the asking user isn't one of them.
    func list(
        of groupID: GroupID,
        askedBy userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        deadline: Deadline?
    ) async throws -> [Member] {
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.firstUUID
        // One row of nulls tells an empty page from an outsider, who gets no row at all.
        let rows = try await database.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns)
            FROM (
                SELECT group_id FROM members WHERE user_id = \(userID.uuid) AND group_id = \(groupID.uuid)
            ) AS caller
            LEFT JOIN LATERAL (
                SELECT * FROM members
                WHERE group_id = caller.group_id AND member_id > \(after)
                ORDER BY member_id
                LIMIT \(limit)
            ) AS m ON true
            ORDER BY m.member_id
            """,
            deadline: deadline
        )
        guard !rows.isEmpty else { throw InvitesFault.notAMember }
        return try rows.compactMap(MemberRow.member)
    }

    /// Before every UUID that is made.
    private static let firstUUID = PostgresUUID(high: 0, low: 0)

    // MARK: - Steps of adding

    /// Counts one more addition for the caller, and for the address that the call came from. Throwing undoes the addition.
    private func spend(
        _ new: NewMember,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws {
        for (quota, subject) in [
            (limits.userAdds, new.callerID.bytes), (limits.addressAdds, new.addressCode),
        ] {
            guard let subject else { continue }
            let wait = try await QuotaStore.spend(
                quota,
                of: subject,
                nowMilliseconds: new.nowMilliseconds,
                in: transaction
            )
            if let wait { throw InvitesFault.tooManyAttempts(retryAfterMilliseconds: wait) }
        }
    }

    /// Locks a number until the transaction ends and tells who has it.
    private func lock(_ phone: PhoneNumber, in transaction: PostgresTransaction) async throws -> UserID? {
        let rows = try await transaction.execute(
            """
            INSERT INTO phones (phone) VALUES (\(phone.digits))
            ON CONFLICT (phone) DO UPDATE SET phone = excluded.phone
            RETURNING user_id
            """
        )
        return try rows[0].decode(0, as: PostgresUUID?.self).map { UserID($0) }
    }

    /// Locks a group, so that its members can be counted, if the caller is one of them.
    private func lock(
        _ groupID: GroupID,
        for callerID: UserID,
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT 1 FROM groups g
            WHERE g.group_id = \(groupID.uuid) AND EXISTS (
                SELECT 1 FROM members m WHERE m.user_id = \(callerID.uuid) AND m.group_id = g.group_id
            )
            FOR UPDATE OF g
            """
        )
        guard !rows.isEmpty else { throw InvitesFault.notAMember }
    }

    /// The members who may be the person already, and how many the group has.
    private func related(
        to new: NewMember,
        owner: UserID?,
        in transaction: PostgresTransaction
    ) async throws -> ([Member], memberCount: Int) {
        // A statement after the locks, so that its snapshot has what was committed before they were got.
        let rows = try await transaction.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns), total.members
            FROM (SELECT count(*) AS members FROM members WHERE group_id = \(new.groupID.uuid)) AS total
            LEFT JOIN members m ON m.group_id = \(new.groupID.uuid)
                AND (m.user_id = \(owner?.uuid) OR m.phone = \(new.invitee.phone.digits))
            """
        )
        return (try rows.compactMap(MemberRow.member), Int(try rows[0].decode(6, as: Int64.self)))
    }

    private func insert(
        _ new: NewMember,
        _ userID: UserID?,
        in transaction: PostgresTransaction
    ) async throws -> Member {
        let now = PostgresTimestamp(milliseconds: new.nowMilliseconds)
        let linkedAt = userID == nil ? nil : now
        try await transaction.execute(
            """
            INSERT INTO members
                (group_id, member_id, user_id, phone, display_name, added_by, added_at, linked_at)
            VALUES (\(new.groupID.uuid), \(new.memberID.uuid), \(userID?.uuid),
                \(new.invitee.phone.digits), \(new.invitee.displayName.value), \(new.callerID.uuid),
                \(now), \(linkedAt))
            """
        )
        return Member(
            id: new.memberID,
            groupID: new.groupID,
            state: userID.map(Member.State.member) ?? .pending,
            phone: new.invitee.phone,
            displayName: new.invitee.displayName,
            addedAtMilliseconds: new.nowMilliseconds
        )
    }
}
