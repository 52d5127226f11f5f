import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

extension GroupStore {
    /// What to change of a group; nil stays.
    struct Change: Sendable {
        let name: GroupName?
        let openness: GroupOpenness?
    }

    /// Locks a group until the transaction ends and tells it as it is then, with the caller's role.
    ///
    /// Whoever makes a user a member, puts one out or changes what members are holds this lock; the linking of those who wait for a
    /// number shares it with others of its kind. So the owner of a group is one of its members at every moment.
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
        // A statement of its own, since its snapshot must have what was waited for.
        guard let group = try await group(groupID, askedBy: callerID, in: transaction) else {
            throw InvitesError.notAMember
        }
        return group
    }

    /// A group as it is, which nothing keeps from changing unless it is locked; nil for outsiders, and for a member whose account is
    /// closed: until they are forgotten here they change nothing.
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

    /// Changes a group, and makes those members who waited for a user with their number where it is open from now on, and those who
    /// asked to join where nobody is confirmed any more.
    ///
    /// - Throws: ``InvitesError/notAMember``, ``InvitesError/roleInsufficient``, ``InvitesError/accountHeld`` if it isn't decided
    ///   whether the account of one who waited is closed, or ``InvitesError/tooManyAttempts(retryAfterMilliseconds:)``.
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
                    // Before all locks: whoever may not has nobody's number locked.
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
                // Whoever holds or closes an account comes before, or waits until its request to join is decided.
                let asking =
                    change.openness.map { $0 != .confirm } ?? false
                    ? try await lockThoseWhoAsk(in: groupID, for: callerID, transaction) : []
                var owners: [PhoneNumber: UserID] = [:]
                var locked: Set<PhoneNumber> = []
                if change.openness == .open {
                    // Numbers before the group, as everybody locks.
                    let phones = try await awaitedPhones(in: groupID, for: callerID, transaction)
                    owners = phones.isEmpty ? [:] : try await PhoneStore.lock(phones, in: transaction)
                    locked = Set(phones)
                }
                let group = try await Self.lock(groupID, for: callerID, in: transaction)
                if change.name != nil { try GroupPolicy.require(group.callerRole, .rename) }
                if change.openness != nil { try GroupPolicy.require(group.callerRole, .changeOpenness) }
                let changed = try await write(change, to: group, in: transaction)
                if changed.openness == .open, group.openness != .open {
                    // Somebody was added after we looked: their number isn't locked.
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
                    // Somebody asked after we looked: their lock isn't shared.
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

    /// Shares the locks of those who ask to join a group, if the caller is in it, and tells who they are.
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

    /// Links those who wait for numbers, which are locked, to the users who have them, as if they had registered now.
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
