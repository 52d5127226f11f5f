import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension GroupStore {
    /// The changes of a group; a nil field stays.
    struct Change: Sendable {
        let name: GroupName?
        let openness: GroupOpenness?
    }

    /// Locks a group until the transaction ends and returns it as it is then, with the caller's role.
    ///
    /// A call that makes a user a member, removes a member or changes roles holds this lock; calls that link the people who wait for a
    /// number share it. So the owner of a group is one of its members at every moment.
    ///
    /// - Throws: ``InvitesError/notAMember``.
    static func lock(
        _ groupID: GroupID,
        for callerID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> Group {
        // Not for outsiders, who must not make members wait.
        try await transaction.query(
            """
            SELECT FROM groups g
            WHERE g.group_id = \(groupID.uuid) AND EXISTS (
                SELECT FROM members m WHERE m.user_id = \(callerID.uuid) AND m.group_id = g.group_id
            ) AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = \(callerID.uuid))
            FOR UPDATE OF g
            """
        )
        // A separate statement, since its snapshot must include what was waited for.
        guard let group = try await group(groupID, askedBy: callerID, in: transaction) else {
            throw InvitesError.notAMember
        }
        return group
    }

    /// A group as it is now, which may change unless it is locked; nil for outsiders, and for a member whose account is closed: they can't
    /// change the group while their data is being deleted.
    static func group(
        _ groupID: GroupID,
        askedBy callerID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> Group? {
        try await transaction.query(
            """
            SELECT \(unsafeSQL: GroupRow.columns)
            FROM members m JOIN groups g ON g.group_id = m.group_id
            WHERE m.user_id = \(callerID.uuid) AND m.group_id = \(groupID.uuid)
                AND NOT EXISTS (SELECT FROM closed_accounts c WHERE c.user_id = m.user_id)
            """
        ).first.map(GroupRow.group)
    }

    /// Changes a group. If it becomes open, users with awaited numbers become members. If its people are no longer confirmed, users who
    /// asked to join become members.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient``, ``InvitesError/accountHeld`` if it isn't decided whether
    ///   the account of a waiting user is closed, or ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
    func change(
        _ groupID: GroupID,
        _ change: Change,
        by callerID: UserID,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Group {
        try await ConflictRetry.run {
            try await database.withTransaction(
                retries: ConflictRetry.retriesMax,
                orAfter: ConflictRetry.isRace,
                deadline: deadline
            ) { transaction in
                if change.openness != nil {
                    // Before all locks: a caller without the right must not lock another person's number.
                    guard let seen = try await Self.group(groupID, askedBy: callerID, in: transaction) else {
                        throw InvitesError.notAMember
                    }
                    try GroupPolicy.require(seen.callerRole, .changeOpenness)
                    if seen.openness != change.openness {
                        try await UserCount.requireRoom(
                            limits.userGroupChanges,
                            of: callerID,
                            nowMilliseconds,
                            in: transaction
                        )
                    }
                }
                // A call that holds or closes an account comes before, or waits until the account's request to join is decided.
                let asking =
                    change.openness.map { $0 != .confirm } ?? false
                    ? try await lockThoseWhoAsk(in: groupID, for: callerID, transaction) : []
                var owners: [PhoneNumber: UserID] = [:]
                var locked: Set<PhoneNumber> = []
                if change.openness == .open {
                    // Numbers before the group, as everywhere.
                    let phones = try await awaitedPhones(in: groupID, for: callerID, transaction)
                    owners = phones.isEmpty ? [:] : try await PhoneStore.lock(phones, in: transaction)
                    locked = Set(phones)
                }
                let group = try await Self.lock(groupID, for: callerID, in: transaction)
                if change.name != nil { try GroupPolicy.require(group.callerRole, .rename) }
                if change.openness != nil { try GroupPolicy.require(group.callerRole, .changeOpenness) }
                let changed = try await write(change, to: group, in: transaction)
                if changed.openness == .open, group.openness != .open {
                    // A person was added after the first read: their number isn't locked.
                    let phones = try await awaitedPhones(in: groupID, for: callerID, transaction)
                    let theirs = try await PhoneStore.lockWithoutWaiting(
                        Set(phones).subtracting(locked),
                        in: transaction
                    )
                    owners.merge(theirs) { owner, _ in owner }
                    let now = PostgresTimestamp(milliseconds: nowMilliseconds)
                    try await link(owners, in: groupID, now, limits, transaction)
                }
                if group.openness == .confirm, changed.openness != .confirm {
                    // A user asked to join after the first read: their lock isn't shared.
                    let now = try await thoseWhoAsk(in: groupID, for: callerID, transaction)
                    guard asking.isSuperset(of: now) else { throw ConflictRetry.LostRace() }
                    try await PendingStore.admitAll(
                        to: changed,
                        by: callerID,
                        limits: limits,
                        nowMilliseconds: nowMilliseconds,
                        in: transaction
                    )
                }
                if changed != group {
                    try await UserCount.spend(limits.userGroupChanges, of: callerID, nowMilliseconds, in: transaction)
                }
                return changed
            }
        }
    }

    private func write(_ change: Change, to group: Group, in transaction: PostgresTransaction) async throws -> Group {
        let changed = Group(
            id: group.id,
            name: change.name ?? group.name,
            ownerID: group.ownerID,
            openness: change.openness ?? group.openness,
            callerRole: group.callerRole,
            createdAtMilliseconds: group.createdAtMilliseconds
        )
        guard changed != group else { return group }
        try await transaction.execute(
            """
            UPDATE groups SET name = \(changed.name.value), openness = \(changed.openness.rawValue)
            WHERE group_id = \(group.id.uuid)
            """
        )
        return changed
    }

    /// Shares the locks of the users who ask to join a group, if the caller is in it, and returns these users.
    private func lockThoseWhoAsk(
        in groupID: GroupID,
        for callerID: UserID,
        _ transaction: PostgresTransaction
    ) async throws -> Set<UserID> {
        let users = try await thoseWhoAsk(in: groupID, for: callerID, transaction)
        try await UserLocks.share(users, in: transaction)
        return users
    }

    private func thoseWhoAsk(
        in groupID: GroupID,
        for callerID: UserID,
        _ transaction: PostgresTransaction
    ) async throws -> Set<UserID> {
        let rows = try await transaction.query(
            """
            SELECT user_id FROM join_requests r WHERE group_id = \(groupID.uuid) AND EXISTS (
                SELECT FROM members c WHERE c.user_id = \(callerID.uuid) AND c.group_id = r.group_id
            )
            """
        )
        return Set(try rows.map { UserID(try $0.decode(0, as: PostgresUUID.self)) })
    }

    /// The numbers that a group waits for, if the caller is in it.
    private func awaitedPhones(
        in groupID: GroupID,
        for callerID: UserID,
        _ transaction: PostgresTransaction
    ) async throws -> [PhoneNumber] {
        try await transaction.query(
            """
            SELECT phone FROM members m WHERE group_id = \(groupID.uuid) AND user_id IS NULL AND EXISTS (
                SELECT FROM members c WHERE c.user_id = \(callerID.uuid) AND c.group_id = \(groupID.uuid)
            )
            """
        ).compactMap { PhoneNumber(stored: try $0.decode(0, as: String.self)) }
    }

    /// Links the people who wait for numbers, which are locked, to the users who have the numbers, as if these had registered now.
    private func link(
        _ owners: [PhoneNumber: UserID],
        in groupID: GroupID,
        _ now: PostgresTimestamp,
        _ limits: InvitesLimits,
        _ transaction: PostgresTransaction
    ) async throws {
        guard !owners.isEmpty else { return }
        let users = owners.values.map(\.uuid)
        let row = try await transaction.query(
            """
            SELECT ARRAY(SELECT user_id FROM closed_accounts WHERE user_id = ANY(\(users))),
                EXISTS (SELECT FROM held_accounts WHERE user_id = ANY(\(users)))
            """
        )[0]
        let (closed, isHeld) = try row.decode([PostgresUUID].self, Bool.self)
        if isHeld { throw InvitesError.accountHeld }
        let links = owners.filter { !closed.contains($0.value.uuid) }
            .map { PhoneLedger.Link(phone: $0.key, userID: $0.value) }
            .sorted { $0.phone.digits < $1.phone.digits }
        _ = try await PhoneStore.link(
            links,
            inGroup: groupID,
            now,
            membershipsMax: limits.membershipsMax,
            in: transaction
        )
    }
}
