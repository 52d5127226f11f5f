import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// Users' invitations and requests to join, and the users' answers, in PostgreSQL.
struct InvitationStore: Sendable {
    let database: PostgresClient

    /// What waits for a user, newest first, at most `limit` entries, after the last one of the previous page.
    ///
    /// `phones` decides at this moment who has a number: if a number changes hands, its invitations go with it.
    func list(
        for userID: UserID,
        after cursor: Page.Cursor?,
        limit: Int,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> [Invitation] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let after = cursor.map { PostgresUUID(high: $0.high, low: $0.low) } ?? Self.lastUUID
        let rows = try await database.query(
            """
            SELECT w.member_id, w.group_id, g.name, g.openness, NULLIF(w.added_by, \(AccountStore.nobody)), w.is_request,
                w.since, w.expires_at
            FROM (
                SELECT m.member_id, m.group_id, inviter.user_id AS added_by, false AS is_request, m.added_at AS since,
                    m.expires_at
                FROM phones p JOIN members m ON m.phone = p.phone AND m.user_id IS NULL
                    -- The first who added the number and isn't blocked.
                    CROSS JOIN LATERAL (
                        SELECT i.user_id FROM unnest(m.added_by || m.also_added_by) WITH ORDINALITY AS i (user_id, place)
                        WHERE NOT EXISTS (SELECT FROM blocked_inviters b
                            WHERE b.user_id = p.user_id AND b.inviter_user_id = i.user_id)
                        ORDER BY i.place LIMIT 1
                    ) AS inviter
                WHERE p.user_id = \(userID.uuid) AND m.declined_by IS DISTINCT FROM \(userID.uuid)
                UNION ALL
                SELECT member_id, group_id, NULL, true, requested_at, expires_at FROM join_requests
                WHERE user_id = \(userID.uuid)
            ) AS w JOIN groups g ON g.group_id = w.group_id
            WHERE (w.is_request OR g.openness <> \(GroupOpenness.open.rawValue))
                AND (w.expires_at IS NULL OR w.expires_at > \(now)) AND w.member_id < \(after)
                AND NOT EXISTS (SELECT FROM members e WHERE e.user_id = \(userID.uuid) AND e.group_id = w.group_id)
            ORDER BY w.member_id DESC
            LIMIT \(limit)
            """,
            deadline: deadline
        )
        return try rows.map { row in
            let isRequest = try row.decode(5, as: Bool.self)
            let isConsent = try GroupRow.openness(row, at: 3) == .consent && !isRequest
            return Invitation(
                id: MemberID(try row.decode(0, as: PostgresUUID.self)),
                groupID: GroupID(try row.decode(1, as: PostgresUUID.self)),
                groupName: GroupName(stored: try row.decode(2)),
                decision: isConsent ? .consent : .confirmation,
                addedBy: try row.decode(4, as: PostgresUUID?.self).map { UserID($0) },
                isRequest: isRequest,
                sinceMilliseconds: try row.decode(6, as: PostgresTimestamp.self).milliseconds,
                expiresAtMilliseconds: try row.decode(7, as: PostgresTimestamp?.self)?.milliseconds
            )
        }
    }

    /// Greater than every UUID that is made.
    private static let lastUUID = PostgresUUID(high: .max, low: .max)

    /// Makes a user a member when they accept an invitation. A user who is a member already stays one.
    ///
    /// - Throws: ``InvitationError/notFound``, ``InvitationError/confirmationNeeded`` where the group decides,
    ///   ``InvitesError/groupFull(membersMax:)`` or ``InvitesError/memberGroupsFull(groupsMax:)``.
    func accept(
        _ id: MemberID,
        in groupID: GroupID,
        by userID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Member {
        try await ConflictRetry.run {
            try await database.withTransaction(
                retries: ConflictRetry.retriesMax,
                orAfter: ConflictRetry.isRace,
                deadline: deadline
            ) { transaction in
                let phones = try await Admission.lockPhones(of: userID, in: transaction)
                guard try await Admission.lock(groupID, concerning: userID, with: phones, in: transaction) else {
                    throw InvitesError.invitation(.notFound)
                }
                try await Admission.requireOpenAccount(userID, in: transaction)
                let place = try await Admission.place(
                    of: userID,
                    in: groupID,
                    with: phones,
                    nowMilliseconds: nowMilliseconds,
                    in: transaction
                )
                // A member has nothing to accept: rows that wait for the user's other numbers keep waiting.
                if let memberID = place.memberID {
                    return try await Admission.member(memberID, of: groupID, seenBy: userID, in: transaction)
                }
                // A declined invitation may still be accepted: the user who declined it knows of it.
                guard place.waiting.contains(where: { $0.id == id && $0.isLive && !$0.isBlocked }) else {
                    throw InvitesError.invitation(.notFound)
                }
                try await requireConsent(groupID, in: transaction)
                let memberID = try await Admission.admit(
                    // Nothing new is made, since a row waits.
                    Admission.Entry(
                        userID: userID,
                        waitingID: id,
                        newID: id,
                        addedBy: userID,
                        confirmedBy: nil,
                        isChosen: true
                    ),
                    to: groupID,
                    from: place,
                    limits: limits,
                    nowMilliseconds: nowMilliseconds,
                    in: transaction
                )
                return try await Admission.member(memberID, of: groupID, seenBy: userID, in: transaction)
            }
        }
    }

    private func requireConsent(_ groupID: GroupID, in transaction: PostgresTransaction) async throws {
        let rows = try await transaction.query("SELECT openness FROM groups WHERE group_id = \(groupID.uuid)")
        guard let row = rows.first else { throw InvitesError.invitation(.notFound) }
        switch try GroupRow.openness(row, at: 0) {
        case .consent: return
        case .confirm: throw InvitesError.invitation(.confirmationNeeded)
        case .open: throw InvitesError.invitation(.notFound)
        }
    }

    /// Records that a user declines an invitation, or withdraws their request to join. The row stays, as for a number without an owner, and
    /// isn't shown to the user again.
    ///
    /// - Throws: ``InvitationError/notFound``.
    func decline(_ id: MemberID, in groupID: GroupID, by userID: UserID, deadline: Deadline?) async throws {
        let isThere = try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            deadline: deadline
        ) { try await decline(id, in: groupID, by: userID, $0) }
        guard isThere else { throw InvitesError.invitation(.notFound) }
    }

    private func decline(
        _ id: MemberID,
        in groupID: GroupID,
        by userID: UserID,
        _ transaction: PostgresTransaction
    ) async throws -> Bool {
        // A call that confirms the user or opens the group holds this lock exclusively: it sees that the user declined, or the user is a
        // member by then and can't decline. Strangers don't take the lock, since the group doesn't concern them. Neither does a user who
        // gets the number after this read, since without the lock nothing may be written about them.
        let locked = try await transaction.query(
            """
            SELECT FROM groups g WHERE g.group_id = \(groupID.uuid) AND (
                EXISTS (SELECT FROM join_requests r WHERE r.group_id = g.group_id AND r.user_id = \(userID.uuid))
                OR EXISTS (SELECT FROM phones p JOIN members m ON m.phone = p.phone AND m.user_id IS NULL
                    WHERE p.user_id = \(userID.uuid) AND m.group_id = g.group_id AND m.member_id = \(id.uuid)))
            FOR KEY SHARE OF g
            """
        )
        guard !locked.isEmpty else { return false }
        return try await !transaction.execute(
            """
            WITH withdrawn AS (
                DELETE FROM join_requests
                WHERE group_id = \(groupID.uuid) AND member_id = \(id.uuid) AND user_id = \(userID.uuid)
                RETURNING member_id
            ), declined AS (
                UPDATE members m SET declined_by = \(userID.uuid), also_added_by = array_remove(also_added_by, \(AccountStore.nobody))
                FROM phones p, groups g
                WHERE m.group_id = \(groupID.uuid) AND m.member_id = \(id.uuid) AND m.user_id IS NULL
                    AND p.phone = m.phone AND p.user_id = \(userID.uuid)
                    AND g.group_id = m.group_id AND g.openness <> \(GroupOpenness.open.rawValue)
                RETURNING m.member_id
            )
            SELECT member_id FROM withdrawn UNION ALL SELECT member_id FROM declined
            """
        ).isEmpty
    }

    /// Deletes what has expired, at most `limit` rows of each kind, and returns the larger count of the kinds. Numbers that no user has and
    /// no group awaits any more are deleted too.
    func forgetExpired(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let phones = try await database.execute(
            """
            DELETE FROM members WHERE user_id IS NULL AND (group_id, member_id) IN (
                SELECT group_id, member_id FROM members WHERE user_id IS NULL AND expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING phone
            """
        ).map { try $0.decode(0, as: String.self) }
        // A separate statement: all others lock numbers before members.
        try await database.execute(
            """
            DELETE FROM phones p WHERE phone IN (
                SELECT phone FROM phones e WHERE e.phone = ANY(\(phones)) AND e.user_id IS NULL
                    AND NOT EXISTS (SELECT FROM members m WHERE m.phone = e.phone AND m.user_id IS NULL)
                ORDER BY phone COLLATE "C" FOR UPDATE SKIP LOCKED)
            """
        )
        let requests = try await database.execute(
            """
            DELETE FROM join_requests WHERE (group_id, user_id) IN (
                SELECT group_id, user_id FROM join_requests WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return max(phones.count, requests.affected)
    }
}
