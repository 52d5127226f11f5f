import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension GroupLinkStore {
    /// The user who shows a token, and when.
    struct Visit: Sendable {
        /// The user.
        let userID: UserID
        /// The code of the address of the call; nil if unknown.
        let addressCode: [UInt8]?
        /// Now, in Unix milliseconds.
        let nowMilliseconds: Int64
    }

    /// What a token refers to.
    struct Target: Sendable {
        /// The link.
        let linkID: GroupLinkID
        /// The group.
        let groupID: GroupID
        /// Its name.
        let groupName: GroupName
        /// How people become members of it.
        let openness: GroupOpenness
        /// Whether the user is a member already.
        let isMember: Bool
        /// When the link expires, in Unix milliseconds.
        let expiresAtMilliseconds: Int64
        /// Whether it has expired, was revoked or is used up.
        let isOver: Bool
    }

    /// The outcome for a user who joined by a token.
    struct Outcome: Sendable {
        /// The membership, or the request.
        let memberID: MemberID
        /// Whether the user is a member; false if they wait to be confirmed.
        let isMember: Bool
    }

    /// Returns what a token refers to. A wrong token is counted for the user and for their address.
    ///
    /// - Throws: ``InvitationError/linkInvalid`` or ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func target(
        of text: String,
        _ visit: Visit,
        limits: InvitesLimits,
        deadline: Deadline?
    ) async throws -> Target {
        // A text without the form of a token doesn't count as a try.
        guard let token = GroupLinkToken(text) else { throw InvitesError.invitation(.linkInvalid) }
        let quotas = [
            (limits.userLinkTries, visit.userID.bytes as [UInt8]?), (limits.addressLinkTries, visit.addressCode),
        ]
        let target: Target? = try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            deadline: deadline
        ) { transaction in
            for (quota, subject) in quotas {
                guard let subject else { continue }
                let wait = try await QuotaStore.wait(
                    quota,
                    of: subject,
                    nowMilliseconds: visit.nowMilliseconds,
                    in: transaction
                )
                if let wait { throw InvitesError.tooManyAttempts(retryAfterMilliseconds: wait) }
            }
            if let target = try await find(token, visit, in: transaction) { return target }
            for (quota, subject) in quotas {
                guard let subject else { continue }
                _ = try await QuotaStore.spend(
                    quota,
                    of: subject,
                    nowMilliseconds: visit.nowMilliseconds,
                    in: transaction
                )
            }
            return nil
        }
        guard let target else { throw InvitesError.invitation(.linkInvalid) }
        return target
    }

    private func find(
        _ token: GroupLinkToken,
        _ visit: Visit,
        in transaction: PostgresTransaction
    ) async throws -> Target? {
        let rows = try await transaction.query(
            """
            SELECT l.secret_hash, l.group_id, g.name, g.openness, m.member_id IS NOT NULL, l.expires_at,
                l.revoked_at IS NOT NULL OR l.expires_at <= \(PostgresTimestamp(milliseconds: visit.nowMilliseconds))
                    OR COALESCE(l.uses >= l.uses_max, false)
            FROM group_links l
                JOIN groups g ON g.group_id = l.group_id
                LEFT JOIN members m ON m.group_id = l.group_id AND m.user_id = \(visit.userID.uuid)
            WHERE l.link_id = \(token.linkID.uuid)
            """
        )
        guard let row = rows.first, token.matches(try row.decode(0, as: [UInt8].self)) else { return nil }
        return Target(
            linkID: token.linkID,
            groupID: GroupID(try row.decode(1, as: PostgresUUID.self)),
            groupName: GroupName(stored: try row.decode(2)),
            openness: try GroupRow.openness(row, at: 3),
            isMember: try row.decode(4),
            expiresAtMilliseconds: try row.decode(5, as: PostgresTimestamp.self).milliseconds,
            isOver: try row.decode(6)
        )
    }

    /// Makes the user a member of a link's group, or creates a request to join where people are confirmed. A user who is a member, has
    /// asked already or waits to be confirmed spends no use; rows that wait for the user's numbers become their membership.
    ///
    /// - Throws: ``InvitationError/linkInvalid`` if the group is gone, ``InvitationError/linkOver``, ``InvitationError/linkUsed``,
    ///   ``InvitesError/groupFull(membersMax:)``, or ``InvitesError/memberGroupsFull(groupsMax:)``.
    func join(
        _ target: Target,
        _ visit: Visit,
        memberID newID: MemberID,
        limits: InvitesLimits,
        deadline: Deadline?
    ) async throws -> Outcome {
        try await ConflictRetry.run {
            try await database.withTransaction(
                retries: ConflictRetry.retriesMax,
                orAfter: ConflictRetry.isRace,
                deadline: deadline
            ) { transaction in
                let phones = try await Admission.lockPhones(of: visit.userID, in: transaction)
                let openness = try await lock(target.groupID, in: transaction)
                try await Admission.requireOpenAccount(visit.userID, in: transaction)
                let place = try await Admission.place(
                    of: visit.userID,
                    in: target.groupID,
                    with: phones,
                    nowMilliseconds: visit.nowMilliseconds,
                    in: transaction
                )
                if let memberID = place.memberID { return Outcome(memberID: memberID, isMember: true) }
                if openness == .confirm, let id = try await waits(visit, target.groupID, place, in: transaction) {
                    return Outcome(memberID: id, isMember: false)
                }
                let maker = try await spend(target, visit, in: transaction)
                guard openness == .confirm else {
                    return try await admit(target, by: maker, visit, newID, place, limits, in: transaction)
                }
                guard place.memberCount + place.requestCount < limits.membersMax else {
                    throw InvitesError.groupFull(membersMax: limits.membersMax)
                }
                try await ask(visit, target.groupID, newID, limits, in: transaction)
                return Outcome(memberID: newID, isMember: false)
            }
        }
    }

    // MARK: - Steps of joining

    /// Locks a group until the transaction ends, and returns its openness at that time.
    private func lock(_ groupID: GroupID, in transaction: PostgresTransaction) async throws -> GroupOpenness {
        let rows = try await transaction.query(
            "SELECT openness FROM groups WHERE group_id = \(groupID.uuid) FOR UPDATE"
        )
        guard let row = rows.first else { throw InvitesError.invitation(.linkInvalid) }
        return try GroupRow.openness(row, at: 0)
    }

    /// The request, or the row for one of the user's numbers, by which the user waits to be confirmed already; nil if they don't.
    private func waits(
        _ visit: Visit,
        _ groupID: GroupID,
        _ place: Admission.Place,
        in transaction: PostgresTransaction
    ) async throws -> MemberID? {
        if let requestID = place.requestID { return requestID }
        guard let waiting = place.waiting.first(where: { $0.isLive && !$0.isBlocked }) else { return nil }
        // Joining by a link shows that the user wants to be in.
        if waiting.isDeclined {
            try await transaction.execute(
                """
                UPDATE members SET declined_by = NULL
                WHERE group_id = \(groupID.uuid) AND member_id = \(waiting.id.uuid) AND user_id IS NULL
                """
            )
        }
        return waiting.id
    }

    /// Counts a use of the link, once per user, and returns its creator, or nobody: a group keeps no trace of a user who left.
    private func spend(_ target: Target, _ visit: Visit, in transaction: PostgresTransaction) async throws -> UserID {
        let now = PostgresTimestamp(milliseconds: visit.nowMilliseconds)
        let used = try await transaction.execute(
            """
            INSERT INTO group_link_uses (link_id, user_id, used_at)
            SELECT link_id, \(visit.userID.uuid), \(now) FROM group_links WHERE link_id = \(target.linkID.uuid)
            ON CONFLICT (link_id, user_id) DO NOTHING
            """
        )
        guard used.affected == 1 else { throw InvitesError.invitation(.linkUsed) }
        let counted = try await transaction.execute(
            """
            UPDATE group_links SET uses = uses + 1
            WHERE link_id = \(target.linkID.uuid) AND revoked_at IS NULL AND expires_at > \(now)
                AND (uses_max IS NULL OR uses < uses_max)
            RETURNING created_by
            """
        )
        guard let row = counted.first else { throw InvitesError.invitation(.linkOver) }
        return UserID(try row.decode(0, as: PostgresUUID.self))
    }

    private func admit(
        _ target: Target,
        by maker: UserID,
        _ visit: Visit,
        _ newID: MemberID,
        _ place: Admission.Place,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> Outcome {
        // A user who joins by a link is in by it, and not only by a number that another user may have added.
        let memberID = try await Admission.admit(
            Admission.Entry(
                userID: visit.userID,
                newID: newID,
                addedBy: maker,
                confirmedBy: maker,
                isChosen: true
            ),
            to: target.groupID,
            from: place,
            limits: limits,
            nowMilliseconds: visit.nowMilliseconds,
            in: transaction
        )
        return Outcome(memberID: memberID, isMember: true)
    }

    private func ask(
        _ visit: Visit,
        _ groupID: GroupID,
        _ newID: MemberID,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: visit.nowMilliseconds)
        // An earlier request that has expired is renewed.
        try await transaction.execute(
            """
            INSERT INTO join_requests (group_id, user_id, member_id, requested_at, expires_at)
            VALUES (\(groupID.uuid), \(visit.userID.uuid), \(newID.uuid), \(now),
                \(limits.pendingExpiry(nowMilliseconds: visit.nowMilliseconds)))
            ON CONFLICT (group_id, user_id) DO UPDATE SET member_id = excluded.member_id,
                requested_at = excluded.requested_at, expires_at = excluded.expires_at
            """
        )
    }
}
