import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

extension PendingStore {
    /// A confirmation: which row, and as which user.
    struct Confirmation: Sendable {
        /// The group.
        let groupID: GroupID
        /// The id that the caller was shown.
        let memberID: MemberID
        /// The user that the caller was shown.
        let userID: UserID
        /// The member who confirms.
        let callerID: UserID
        /// Now, in Unix milliseconds.
        let nowMilliseconds: Int64
    }

    /// What a membership's id refers to, when all locks are held.
    private struct MemberFacts {
        let userID: UserID?
        let phone: String?
        let isAddedByCaller: Bool
        let isInDoubt: Bool
    }

    /// Makes a pending user or a user who asks to join a member, or keeps a member in doubt. A member without doubt stays one.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient``, ``InvitationError/memberUnconfirmed``,
    ///   ``InvitesError/memberNotFound``, ``InvitationError/personChanged``, ``InvitationError/nothingToConfirm``,
    ///   ``InvitesError/groupFull(membersMax:)`` or ``InvitesError/memberGroupsFull(groupsMax:)``.
    func confirm(_ new: Confirmation, limits: InvitesLimits, deadline: Deadline?) async throws -> Member {
        try await ConflictRetry.run {
            try await database.withTransaction(
                retries: ConflictRetry.retriesMax,
                orAfter: ConflictRetry.isRace,
                deadline: deadline
            ) { transaction in
                let (phone, isConcerned) = try await look(at: new, in: transaction)
                guard isConcerned else { throw try await refusal(of: new, in: transaction) }
                // After it: a caller without the right must not lock another person's number.
                let phones = try await Admission.lockPhones(of: new.userID, and: phone, in: transaction)
                let group = try await GroupStore.lock(new.groupID, for: new.callerID, in: transaction)
                let place = try await Admission.place(
                    of: new.userID,
                    in: new.groupID,
                    with: phones,
                    nowMilliseconds: new.nowMilliseconds,
                    in: transaction
                )
                let memberID: MemberID
                if let row = try await row(of: new, in: transaction) {
                    guard row.phone == phone else { throw ConflictRetry.LostRace() }
                    try GroupPolicy.require(group.callerRole, .confirm(addedByCaller: row.isAddedByCaller))
                    try await MemberStore.requireProven(new.callerID, group.callerRole, in: new.groupID, transaction)
                    memberID =
                        row.userID == nil
                        ? try await confirmWaiting(new, group, place, limits, in: transaction)
                        : try await keep(new, row, group, in: transaction)
                } else {
                    try GroupPolicy.require(group.callerRole, .confirm(addedByCaller: false))
                    memberID = try await confirmRequest(new, place, limits, in: transaction)
                }
                return try await Admission.member(memberID, of: new.groupID, seenBy: new.callerID, in: transaction)
            }
        }
    }

    /// Reads before anything is locked, since the number's lock comes before the group's. Returns the number of the row, and whether the
    /// user is concerned.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient`` or ``InvitationError/memberUnconfirmed``, as it is now.
    private func look(
        at new: Confirmation,
        in transaction: PostgresTransaction
    ) async throws -> (phone: String?, isConcerned: Bool) {
        guard let group = try await GroupStore.group(new.groupID, askedBy: new.callerID, in: transaction) else {
            throw InvitesError.notAMember
        }
        let row = try await row(of: new, in: transaction)
        try await require(group, row, for: new, in: transaction)
        return (row?.phone, try await isConcerned(new, row, in: transaction))
    }

    private func require(
        _ group: Group,
        _ row: MemberFacts?,
        for new: Confirmation,
        in transaction: PostgresTransaction
    ) async throws {
        try GroupPolicy.require(group.callerRole, .confirm(addedByCaller: row?.isAddedByCaller ?? false))
        try await MemberStore.requireProven(new.callerID, group.callerRole, in: new.groupID, transaction)
    }

    /// Whether the user is in the group, asks to join it or has the number: a caller who names an arbitrary user must not lock that user's
    /// numbers.
    private func isConcerned(
        _ new: Confirmation,
        _ row: MemberFacts?,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        try await !transaction.query(
            """
            SELECT 1 FROM members WHERE user_id = \(new.userID.uuid) AND group_id = \(new.groupID.uuid)
            UNION ALL SELECT 1 FROM join_requests
                WHERE user_id = \(new.userID.uuid) AND group_id = \(new.groupID.uuid) AND member_id = \(new.memberID.uuid)
            UNION ALL SELECT 1 FROM phones WHERE user_id = \(new.userID.uuid) AND phone = \(row?.phone)
            LIMIT 1
            """
        ).isEmpty
    }

    /// Why a user who isn't concerned is not confirmed. Decided again with the group locked: the earlier reads saw the group at different
    /// moments.
    private func refusal(of new: Confirmation, in transaction: PostgresTransaction) async throws -> any Error {
        let group = try await GroupStore.lock(new.groupID, for: new.callerID, in: transaction)
        let row = try await row(of: new, in: transaction)
        try await require(group, row, for: new, in: transaction)
        guard try await !isConcerned(new, row, in: transaction) else { return ConflictRetry.LostRace() }
        guard let row else { return try await unknown(new, in: transaction) }
        let isForNobody = row.userID == nil && group.openness != .confirm
        return InvitesError.invitation(isForNobody ? .nothingToConfirm : .personChanged)
    }

    private func row(of new: Confirmation, in transaction: PostgresTransaction) async throws -> MemberFacts? {
        let rows = try await transaction.query(
            """
            SELECT user_id, phone, \(new.callerID.uuid) = ANY(added_by || also_added_by), unconfirmed_at IS NOT NULL FROM members
            WHERE group_id = \(new.groupID.uuid) AND member_id = \(new.memberID.uuid)
            """
        )
        return try rows.first.map { row in
            MemberFacts(
                userID: try row.decode(0, as: PostgresUUID?.self).map { UserID($0) },
                phone: try row.decode(1),
                isAddedByCaller: try row.decode(2),
                isInDoubt: try row.decode(3)
            )
        }
    }

    /// Makes a user with the number a member.
    private func confirmWaiting(
        _ new: Confirmation,
        _ group: Group,
        _ place: Admission.Place,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> MemberID {
        guard group.openness == .confirm else { throw InvitesError.invitation(.nothingToConfirm) }
        // The row must wait for this user: no other user has the number, and this one neither declined nor blocks the adders. Nor
        // do they block the caller, for whom they don't exist then.
        let isBlocked = try await transaction.query(
            """
            SELECT FROM blocked_inviters WHERE user_id = \(new.userID.uuid) AND inviter_user_id = \(new.callerID.uuid)
            """
        )
        guard isBlocked.isEmpty, place.waiting.contains(where: { $0.id == new.memberID && $0.isShown }) else {
            throw InvitesError.invitation(.personChanged)
        }
        return try await admit(new, waitingID: new.memberID, place, limits, in: transaction)
    }

    /// Makes a user who asked to join a member; a user who is a member already, however they joined, is confirmed.
    private func confirmRequest(
        _ new: Confirmation,
        _ place: Admission.Place,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> MemberID {
        if place.requestID == new.memberID {
            return try await admit(new, waitingID: nil, place, limits, in: transaction)
        }
        if let memberID = place.memberID { return memberID }
        throw try await unknown(new, in: transaction)
    }

    /// Why an id without a row can't be confirmed.
    private func unknown(_ new: Confirmation, in transaction: PostgresTransaction) async throws -> InvitesError {
        let rows = try await transaction.query(
            """
            SELECT FROM join_requests WHERE group_id = \(new.groupID.uuid) AND member_id = \(new.memberID.uuid)
                AND user_id <> \(new.userID.uuid)
            """
        )
        return rows.isEmpty ? .memberNotFound : .invitation(.personChanged)
    }

    private func admit(
        _ new: Confirmation,
        waitingID: MemberID?,
        _ place: Admission.Place,
        _ limits: InvitesLimits,
        in transaction: PostgresTransaction
    ) async throws -> MemberID {
        do {
            try await Admission.requireOpenAccount(new.userID, in: transaction)
        } catch InvitesError.accountClosed {
            // Not the caller's.
            throw InvitesError.invitation(.personChanged)
        }
        return try await Admission.admit(
            Admission.Entry(
                userID: new.userID,
                waitingID: waitingID,
                newID: new.memberID,
                addedBy: new.callerID,
                confirmedBy: new.callerID,
                // A request to join is the user's own wish; a number that another user added isn't.
                isChosen: waitingID == nil
            ),
            to: new.groupID,
            from: place,
            limits: limits,
            nowMilliseconds: new.nowMilliseconds,
            in: transaction
        )
    }

    /// Confirms a member as the person meant, no matter who has the number: the row that waits for it besides is deleted.
    private func keep(
        _ new: Confirmation,
        _ row: MemberFacts,
        _ group: Group,
        in transaction: PostgresTransaction
    ) async throws -> MemberID {
        guard row.userID == new.userID else { throw InvitesError.invitation(.personChanged) }
        guard PendingPerson.mayKeep(new.userID, callerID: new.callerID, role: group.callerRole) else {
            throw InvitesError.roleInsufficient
        }
        guard let phone = row.phone else { return new.memberID }
        try await transaction.execute(
            """
            UPDATE members SET confirmed_by = \(new.callerID.uuid), unconfirmed_at = NULL
            WHERE group_id = \(new.groupID.uuid) AND member_id = \(new.memberID.uuid)
                AND (confirmed_by IS NULL OR unconfirmed_at IS NOT NULL)
            """
        )
        if row.isInDoubt {
            try await transaction.execute(
                "DELETE FROM members WHERE group_id = \(new.groupID.uuid) AND phone = \(phone) AND user_id IS NULL"
            )
            if let phone = PhoneNumber(stored: phone) { try await PhoneStore.forgetUnused([phone], in: transaction) }
        }
        return new.memberID
    }
}
