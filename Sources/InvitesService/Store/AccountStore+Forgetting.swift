import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// Deletes the data of a user whose account is closed: bounded parts, each in a transaction of its own. What was deleted stays deleted.
extension AccountStore {
    /// How many of the user's groups are read at once.
    static let groupsFoundMax = 1_000
    /// How many groups one transaction locks.
    static let groupsTogetherMax = 8
    /// How many rows of a table one transaction deletes besides those of groups.
    static let rowsTogetherMax = 1_000
    /// How long one transaction may take, including its retries.
    static let partLimit = Duration.seconds(5)
    /// How often a part is retried because a group that was to be deleted got a member meanwhile.
    private static let triesMax = 4

    /// A group that was to be deleted just got a member, who becomes its owner.
    private struct GroupInherited: Error {}

    /// Deletes the data of a user whose account is closed, part by part, until nothing is left or the time is over. It tries at least one
    /// part. A group that fails, or that another transaction holds, doesn't block the other groups. Data outside groups is deleted last.
    ///
    /// - Parameters:
    ///   - end: when no further part begins.
    ///   - deadline: when the current part is cancelled; nil lets it take its time.
    /// - Returns: whether nothing is left.
    /// - Throws: the error of the first group that failed, after the others are done.
    func forget(
        _ userID: UserID,
        until end: ContinuousClock.Instant,
        deadline: Deadline? = nil
    ) async throws -> Bool {
        let user = userID.uuid
        // Groups that are retried after the rest, each alone: those that another transaction holds, and those of a part that failed.
        var late: [PostgresUUID] = []
        var failure: (any Error)?
        var after = Self.nobody
        repeat {
            let found = try await groups(of: user, after: after, deadline: deadline)
            for start in stride(from: 0, to: found.count, by: Self.groupsTogetherMax) {
                let part = Array(found[start..<min(start + Self.groupsTogetherMax, found.count)])
                do {
                    late += try await forget(user, in: part, isWaiting: false, deadline: deadline)
                } catch {
                    guard !Task.isCancelled else { throw error }
                    failure = failure ?? error
                    late += part
                }
                guard ContinuousClock.now < end else {
                    if let failure { throw failure }
                    return false
                }
            }
            guard found.count == Self.groupsFoundMax, let last = found.last else { break }
            after = last
        } while true
        failure = nil
        // In random order, so that a group that is held for long doesn't block the ones behind it forever.
        for group in late.shuffled() {
            do { _ = try await forget(user, in: [group], isWaiting: true, deadline: deadline) } catch {
                guard !Task.isCancelled else { throw error }
                failure = failure ?? error
            }
            guard ContinuousClock.now < end else { break }
        }
        // The blocks against the user stay until no group names the user: they decide what is declined in a group.
        if let failure { throw failure }
        guard late.isEmpty || ContinuousClock.now < end else { return false }
        while try await handOverRest(of: user, deadline: Self.partDeadline(deadline)) {
            guard ContinuousClock.now < end else { return false }
        }
        while try await forgetRest(of: userID, deadline: deadline) {
            guard ContinuousClock.now < end else { return false }
        }
        return true
    }

    /// Groups that have data of a user, in the order of their ids, after a given one.
    private func groups(
        of user: PostgresUUID,
        after: PostgresUUID,
        deadline: Deadline?
    ) async throws -> [PostgresUUID] {
        try await database.query(
            """
            SELECT group_id FROM groups WHERE owner_user_id = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM groups WHERE created_by = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM members WHERE user_id = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM members WHERE added_by = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM members WHERE confirmed_by = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM members
                WHERE also_added_by @> ARRAY[\(user)]::uuid[] AND also_added_by <> '{}' AND group_id > \(after)
            UNION SELECT group_id FROM merged_numbers WHERE added_by = \(user) AND group_id > \(after)
            UNION SELECT group_id FROM group_links WHERE created_by = \(user) AND group_id > \(after)
            ORDER BY group_id LIMIT \(Self.groupsFoundMax)
            """,
            deadline: Self.partDeadline(deadline)
        ).map { try $0.decode(0, as: PostgresUUID.self) }
    }

    /// The deadline of a part that begins now.
    private static func partDeadline(_ deadline: Deadline?) -> Deadline {
        min(.after(partLimit), deadline ?? .never)
    }

    /// Removes a user from groups, in one transaction that locks them in the order of their ids.
    ///
    /// - Parameter isWaiting: whether to wait for groups that another transaction holds.
    /// - Returns: the groups that another transaction holds, if it doesn't wait for them; they are unchanged.
    private func forget(
        _ user: PostgresUUID,
        in groups: [PostgresUUID],
        isWaiting: Bool,
        deadline: Deadline?
    ) async throws -> [PostgresUUID] {
        let deadline = Self.partDeadline(deadline)
        for _ in 1...Self.triesMax {
            do {
                return try await database.withTransaction(
                    retries: ConflictRetry.retriesMax,
                    deadline: deadline
                ) { transaction in
                    let locked = try await transaction.query(
                        """
                        SELECT group_id FROM groups WHERE group_id = ANY(\(groups)) ORDER BY group_id
                        FOR UPDATE \(unsafeSQL: isWaiting ? "" : "SKIP LOCKED")
                        """
                    ).map { try $0.decode(0, as: PostgresUUID.self) }
                    let theirs = isWaiting ? groups : locked
                    if let successor = try await Self.successor(of: user, in: transaction) {
                        try await Self.succeed(user, by: successor, in: theirs, in: transaction)
                    }
                    try await Self.leave(theirs, user, in: transaction)
                    try await hand(on: theirs, user, in: transaction)
                    try await transaction.execute(
                        """
                        UPDATE groups SET created_by = \(Self.nobody)
                        WHERE group_id = ANY(\(theirs)) AND created_by = \(user)
                        """
                    )
                    return groups.filter { !theirs.contains($0) }
                }
            } catch is GroupInherited { continue }
        }
        throw PostgresError.unavailable("groups of a closed account got members again and again")
    }

    /// Gives the user's groups to their heirs, and deletes those without a member, with the numbers that no other group waits for.
    private func hand(
        on groups: [PostgresUUID],
        _ user: PostgresUUID,
        in transaction: PostgresTransaction
    ) async throws {
        try await Self.giveToHeirs(groups, of: user, in: transaction)
        let phones = try await transaction.execute(
            """
            DELETE FROM members m USING groups g
            WHERE g.group_id = ANY(\(groups)) AND g.owner_user_id = \(user) AND m.group_id = g.group_id
                AND m.user_id IS NULL
            RETURNING m.phone
            """
        )
        try await transaction.execute(
            """
            DELETE FROM groups g WHERE g.group_id = ANY(\(groups)) AND g.owner_user_id = \(user)
                AND NOT EXISTS (SELECT FROM members m WHERE m.group_id = g.group_id)
            """
        )
        let left = try await transaction.query(
            "SELECT FROM groups WHERE group_id = ANY(\(groups)) AND owner_user_id = \(user)"
        )
        guard left.isEmpty else { throw GroupInherited() }
        try await PhoneStore.forgetUnused(phones, in: transaction)
    }

    /// Deletes the data of a user outside groups, at most ``rowsTogetherMax`` rows of each table. Returns whether there may be more.
    private func forgetRest(of userID: UserID, deadline: Deadline?) async throws -> Bool {
        let user = userID.uuid
        return try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            deadline: Self.partDeadline(deadline)
        ) { transaction in
            let declined = try await transaction.execute(
                """
                UPDATE members SET declined_by = NULL, also_added_by = array_remove(also_added_by, \(Self.nobody))
                WHERE declined_by = \(user) AND (group_id, member_id) IN (
                    SELECT group_id, member_id FROM members WHERE declined_by = \(user)
                    ORDER BY group_id, member_id LIMIT \(Self.rowsTogetherMax) FOR UPDATE)
                """
            ).affected
            let row = try await transaction.execute(Self.restOf(user))[0]
            // After all deletions whose triggers write events about the user.
            let events = try await transaction.execute(
                """
                DELETE FROM group_events WHERE (xid, id) IN (
                    SELECT xid, id FROM group_events WHERE user_id = \(user) LIMIT \(Self.rowsTogetherMax))
                """
            ).affected
            try await QuotaStore.forget(subject: userID.bytes, in: transaction)
            return max(declined, events, Int(try row.decode(0, as: Int64.self))) >= Self.rowsTogetherMax
        }
    }

    /// Deletes rows that belong to the user alone, and returns the largest number of rows deleted from one table.
    private static func restOf(_ user: PostgresUUID) -> Query {
        """
        WITH withdrawn AS (
            DELETE FROM join_requests WHERE user_id = \(user) AND group_id IN (
                SELECT group_id FROM join_requests WHERE user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), unused AS (
            DELETE FROM group_link_uses WHERE user_id = \(user) AND link_id IN (
                SELECT link_id FROM group_link_uses WHERE user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), unblocked AS (
            DELETE FROM blocked_inviters WHERE user_id = \(user) RETURNING 1
        ), wanted AS (
            DELETE FROM blocked_inviters WHERE inviter_user_id = \(user) AND user_id <> \(user) AND user_id IN (
                SELECT user_id FROM blocked_inviters WHERE inviter_user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), untold AS (
            DELETE FROM work WHERE id IN (
                SELECT id FROM work WHERE user_id = \(user) AND queue = \(ServiceEventWork.queue) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), unasked AS (
            DELETE FROM asked_numbers WHERE user_id = \(user) AND number_code IN (
                SELECT number_code FROM asked_numbers WHERE user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), merged AS (
            DELETE FROM merged_numbers WHERE user_id = \(user) AND (phone, group_id) IN (
                SELECT phone, group_id FROM merged_numbers WHERE user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        ), keys AS (
            DELETE FROM group_keys WHERE user_id = \(user) AND idempotency_key IN (
                SELECT idempotency_key FROM group_keys WHERE user_id = \(user) LIMIT \(rowsTogetherMax)) RETURNING 1
        )
        SELECT greatest((SELECT count(*) FROM withdrawn), (SELECT count(*) FROM unused), (SELECT count(*) FROM wanted),
            (SELECT count(*) FROM untold), (SELECT count(*) FROM unasked), (SELECT count(*) FROM merged), (SELECT count(*) FROM keys))
        """
    }
}
