import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension MemberStore {
    /// The people to add, the adder and the group. No number is in it twice.
    struct NewMembers: Sendable {
        /// A person, the id of their membership, if there will be one, and the code of the number for the adder.
        struct Person: Sendable {
            let invitee: Invitee
            let memberID: MemberID
            let numberCode: [UInt8]
        }

        /// The group.
        let groupID: GroupID
        /// The member who adds.
        let callerID: UserID
        /// The people.
        let people: [Person]
        /// The code of the address of the call; nil if unknown.
        let addressCode: [UInt8]?
        /// Now, in Unix milliseconds.
        let nowMilliseconds: Int64
    }

    /// Nobody could be added: the transaction is rolled back and keeps nothing, not even a number.
    private struct AllRefused: Error {
        let answers: [Roster.Answer]
    }

    /// Adds people to a group, or finds them in it, in one transaction, and returns an answer for each.
    ///
    /// Locks are taken in the same order everywhere: the numbers in the order of their digits, then the group, then the counts of quotas.
    /// However many people there are, each step is one statement. A user who can't add anybody now locks nothing.
    ///
    /// - Throws: ``InvitesError/notAMember`` or ``InvitationError/memberUnconfirmed``.
    func add(_ new: NewMembers, limits: InvitesLimits, deadline: Deadline?) async throws -> [Roster.Answer] {
        do {
            return try await ConflictRetry.run {
                try await database.withTransaction(
                    retries: ConflictRetry.retriesMax,
                    orAfter: ConflictRetry.isRace,
                    deadline: deadline
                ) { transaction in
                    let room = try await AdditionRoom(for: new, limits: limits, in: transaction)
                    let group = try await group(new, isLocked: !room.isEmpty, in: transaction)
                    let roster = try await roster(of: group, for: new, room, limits, in: transaction)
                    let answers = try await add(new, to: roster, room, limits, in: transaction)
                    // A member who is in by a number that they gave up is not awaited by it.
                    let nobodys = answers.indices.map { (answers[$0], new.people[$0].invitee.phone) }.filter {
                        if case .known(let member) = $0 {
                            member.userID != nil && room.owners[$1] == nil
                        } else {
                            false
                        }
                    }
                    try await PhoneStore.forgetUnused(nobodys.map(\.1), in: transaction)
                    return answers
                }
            }
        } catch let refused as AllRefused {
            return refused.answers
        }
    }

    private func add(
        _ new: NewMembers,
        to roster: Roster,
        _ room: AdditionRoom,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> [Roster.Answer] {
        // The outcome without limits: a known person costs nothing.
        var answers = plan(new, roster) { _ in nil }
        var refusals = try await room.refusals(of: answers, in: transaction)
        refusals.merge(try await MembershipRoom.refusals(of: answers, new, limits, in: transaction)) { first, _ in first
        }
        let isNoted = try await note(answers, new, roster.openness, in: transaction)
        let costly = answers.indices.filter { answers[$0].isCostly && refusals[$0] == nil }
        guard !costly.isEmpty else {
            for (index, fault) in refusals { answers[index] = .refused(fault) }
            guard answers.contains(where: \.isRefused) else { return answers }
            return try await refuse(answers, new, isNoted: isNoted, in: transaction)
        }
        let codes = costly.map { new.people[$0].numberCode }
        let counts = try await AdditionCounts(
            codes,
            by: new.callerID,
            addressCode: new.addressCode,
            limits: limits,
            nowMilliseconds: new.nowMilliseconds,
            in: transaction
        )
        for (index, wait) in zip(costly, counts.waits(of: codes)) {
            if let wait { refusals[index] = .tooManyAttempts(retryAfterMilliseconds: wait) }
        }
        if !refusals.isEmpty {
            // A person without room doesn't get it when another is refused: nobody would count or write them.
            let first = answers
            answers = plan(new, roster) { refusals[$0] ?? first[$0].refusal }
        }
        // The refusals must not reveal whether a user has a number: all remaining people are treated alike, in order.
        let standing = costly.filter { refusals[$0] == nil }
        let entries = standing.map { (answers[$0], new.people[$0]) }
        let free = entries.isEmpty ? 0 : try await insert(entries, new, limits, in: transaction)
        for index in standing.dropFirst(free) { refusals[index] = .tooManyPending(pendingMax: limits.pendingMax) }
        guard !refusals.isEmpty else { return answers }
        for (index, fault) in refusals { answers[index] = .refused(fault) }
        let uncounted = costly.filter { refusals[$0] != nil }
        guard uncounted.count < costly.count || isNoted else { throw AllRefused(answers: answers) }
        try await counts.refund(uncounted.map { new.people[$0].numberCode }, in: transaction)
        try await PhoneStore.forgetUnused(refusals.keys.map { new.people[$0].invitee.phone }, in: transaction)
        return answers
    }

    /// The outcome of adding each of the people; a refused person is not there for later ones to find.
    private func plan(
        _ new: NewMembers,
        _ roster: Roster,
        refusal: (Int) -> InvitesError?
    ) -> [Roster.Answer] {
        var roster = roster
        return new.people.enumerated().map { index, person in
            if let fault = refusal(index) { return .refused(fault) }
            return roster.add(person.invitee, id: person.memberID, nowMilliseconds: new.nowMilliseconds)
        }
    }

    // MARK: - Steps of adding

    /// Answers when nobody was added. Notes of further inviters are kept, and nothing else.
    private func refuse(
        _ answers: [Roster.Answer],
        _ new: NewMembers,
        isNoted: Bool,
        in transaction: PostgresTransaction
    ) async throws -> [Roster.Answer] {
        guard isNoted else { throw AllRefused(answers: answers) }
        let refused = answers.indices.filter { answers[$0].isRefused }
        try await PhoneStore.forgetUnused(refused.map { new.people[$0].invitee.phone }, in: transaction)
        return answers
    }

    /// The maximum of further inviters per number; each is a member of the group.
    private static let furtherInvitersMax = 8

    /// Notes the caller as a further inviter of people whom the group already awaits: a person who blocks the first inviter may want the
    /// second. This doesn't depend on who has the number, and nobody in the group sees it; the caller may confirm the person like the first
    /// adder. If the person blocked all earlier adders, the row waits by the caller from now on, unless the person blocks the caller too.
    /// Returns whether anything was noted.
    private func note(
        _ answers: [Roster.Answer],
        _ new: NewMembers,
        _ openness: GroupOpenness,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let awaited = answers.compactMap { answer in
            if case .known(let member) = answer, member.userID == nil { member.id.uuid } else { nil }
        }
        guard !awaited.isEmpty else { return false }
        let caller = new.callerID.uuid
        // The owners of the numbers may now see an invitation that they didn't see before.
        return try await !transaction.execute(
            """
            WITH noted AS (
                UPDATE members m SET
                    added_by = CASE WHEN \(unsafeSQL: MemberRow.isLeftBehind) THEN \(caller) ELSE added_by END,
                    also_added_by = CASE WHEN \(unsafeSQL: MemberRow.isLeftBehind) THEN '{}' ELSE also_added_by || \(caller)::uuid END,
                    declined_by = CASE WHEN \(unsafeSQL: MemberRow.isLeftBehind) THEN NULL ELSE declined_by END
                WHERE group_id = \(new.groupID.uuid) AND member_id = ANY(\(awaited)) AND user_id IS NULL
                    AND \(caller) <> ALL(added_by || also_added_by)
                    AND cardinality(also_added_by) < \(Int32(Self.furtherInvitersMax))
                    AND NOT (\(unsafeSQL: MemberRow.isLeftBehind) AND EXISTS (
                        SELECT FROM blocked_inviters b WHERE b.user_id = m.declined_by AND b.inviter_user_id = \(caller)))
                RETURNING phone
            ), told AS (
                INSERT INTO group_events (kind, user_id)
                SELECT DISTINCT \(GroupChange.Kind.invitationChanged.rawValue), p.user_id
                FROM noted JOIN phones p ON p.phone = noted.phone
                WHERE p.user_id IS NOT NULL AND \(openness != .open)
            )
            SELECT FROM noted
            """
        ).isEmpty
    }

    /// The group to add to.
    private struct AskedGroup {
        let id: GroupID
        let ownerID: UserID
        let openness: GroupOpenness
    }

    /// The group, if the caller is in it; if a person may be added it is locked, so that its members can be counted.
    private func group(
        _ new: NewMembers,
        isLocked: Bool,
        in transaction: PostgresTransaction
    ) async throws -> AskedGroup {
        let rows = try await transaction.query(
            """
            SELECT g.owner_user_id, g.openness FROM groups g
            WHERE g.group_id = \(new.groupID.uuid) AND EXISTS (
                SELECT 1 FROM members m WHERE m.user_id = \(new.callerID.uuid) AND m.group_id = g.group_id
            )
            \(unsafeSQL: isLocked ? "FOR UPDATE OF g" : "")
            """
        )
        guard let row = rows.first else { throw InvitesError.notAMember }
        return AskedGroup(
            id: new.groupID,
            ownerID: UserID(try row.decode(0, as: PostgresUUID.self)),
            openness: try GroupRow.openness(row, at: 1)
        )
    }

    /// The members who may already be these people, how many members the group has, and which owners of the numbers are hidden. A closed
    /// account has no number, though profile may not have delivered its release yet; and if the owner blocks the caller, the number counts
    /// as free. A row that the number's owner declined keeps waiting: that number alone counts as free then, and by another number the
    /// owner may be added like anybody. Expired rows are ignored.
    private func roster(
        of group: AskedGroup,
        for new: NewMembers,
        _ room: AdditionRoom,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> Roster {
        let owners = room.owners
        // A statement after the locks, so that its snapshot includes what was committed before they were taken: also whether the caller's
        // account was closed meanwhile, or a number's owner is held since.
        let now = PostgresTimestamp(milliseconds: new.nowMilliseconds)
        let users = owners.values.map(\.uuid)
        let digits = new.people.map(\.invitee.phone.digits)
        let rows = try await transaction.query(
            """
            SELECT \(unsafeSQL: MemberRow.columns), total.members, total.caller_role,
                ARRAY(SELECT user_id FROM closed_accounts WHERE user_id = ANY(\(users))
                    UNION ALL SELECT user_id FROM blocked_inviters
                    WHERE user_id = ANY(\(users)) AND inviter_user_id = \(new.callerID.uuid)),
                ARRAY(SELECT user_id FROM held_accounts WHERE user_id = ANY(\(users))),
                ARRAY(SELECT d.phone FROM members d JOIN phones p ON p.phone = d.phone AND p.user_id = d.declined_by
                    WHERE d.group_id = \(new.groupID.uuid) AND d.phone = ANY(\(digits)) AND d.user_id IS NULL
                        AND NOT \(unsafeSQL: MemberRow.isLeftBehind)
                        AND (d.expires_at IS NULL OR d.expires_at > \(now)) AND NOT EXISTS (
                            SELECT FROM members e WHERE e.user_id = d.declined_by AND e.group_id = d.group_id)),
                total.is_unproven
            FROM (
                SELECT count(*) AS members, max(CASE WHEN m.user_id = \(new.callerID.uuid)
                        AND NOT EXISTS (SELECT FROM closed_accounts WHERE user_id = \(new.callerID.uuid)) THEN m.role END) AS caller_role,
                    bool_or(CASE WHEN m.user_id = \(new.callerID.uuid) THEN \(unsafeSQL: MemberRow.isUnproven) END) AS is_unproven
                FROM members m WHERE m.group_id = \(new.groupID.uuid)
                    AND (m.user_id IS NOT NULL OR m.expires_at IS NULL OR m.expires_at > \(now))
            ) AS total
            LEFT JOIN members m ON m.group_id = \(new.groupID.uuid)
                AND (m.user_id IS NOT NULL OR m.expires_at IS NULL OR m.expires_at > \(now))
                AND (m.user_id IN (SELECT unnest(\(users))) OR m.phone IN (SELECT unnest(\(digits))))
            """
        )
        let column = MemberRow.columnCount
        let first = rows[0]
        guard try first.decode(column + 1, as: String?.self) != nil else { throw InvitesError.notAMember }
        if try first.decode(column + 5, as: Bool?.self) == true { throw InvitesError.invitation(.memberUnconfirmed) }
        let role = try MemberRow.role(first, at: column + 1, isOwner: new.callerID == group.ownerID)
        let adder = MemberViewer(userID: new.callerID, role: role)
        let unseen = Set(try first.decode(column + 2, as: [PostgresUUID].self).map { UserID($0) })
        let declined = Set(try first.decode(column + 4, as: [String].self))
        return Roster(
            groupID: group.id,
            openness: group.openness,
            adder: adder,
            // In groups of consent the owner counts only if they are a member by the number, whom all members see.
            owners: unseen.isEmpty && declined.isEmpty || group.openness == .consent
                ? owners : owners.filter { !unseen.contains($0.value) && !declined.contains($0.key.digits) },
            provenPhones: room.provenPhones,
            held: Set(try first.decode(column + 3, as: [PostgresUUID].self).map { UserID($0) }),
            related: try rows.compactMap {
                try MemberRow.member($0, owner: group.ownerID, openness: group.openness, viewer: adder)
            },
            memberCount: Int(try first.decode(column, as: Int64.self)),
            membersMax: limits.membersMax
        )
    }
}

extension Roster.Answer {
    /// Whether it counts against the adder's quotas.
    fileprivate var isCostly: Bool {
        switch self {
        case .recognized, .added: true
        case .known, .refused: false
        }
    }

    fileprivate var isRefused: Bool { refusal != nil }

    /// Why the person can't be added; nil if they can.
    fileprivate var refusal: InvitesError? { if case .refused(let fault) = self { fault } else { nil } }
}
