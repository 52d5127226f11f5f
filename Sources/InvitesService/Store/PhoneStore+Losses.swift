import InvitesDomain
import Models
import Postgres
import ServiceModels

/// Changes members when a number changes hands, in PostgreSQL. The number's row is locked.
extension PhoneStore {
    /// The maximum of a group's members in doubt for one number. Beyond it, a user who gives the number up loses the place that they had by
    /// it: otherwise accounts that take and give up a number one after the other would fill the group.
    static let doubtsMax = 8

    /// Locks the groups that losses concern until the transaction ends, in the order of their ids: meanwhile no member becomes owner or
    /// admin, is removed, confirmed or linked by another number. The members held by a number are found by their memberships: since the
    /// number is locked they only get fewer. It also locks the groups that wait for a number that a user has now: those are linked after
    /// it.
    func lockGroups(of ledger: PhoneLedger, in transaction: PostgresTransaction) async throws {
        let losses = ledger.steps.flatMap(\.losses)
        // The next step may lose places that one step takes: a user who has a number in any step may have members by it.
        let links = ledger.steps.flatMap(\.links)
        let users = Set(losses.map(\.userID) + links.map(\.userID)).sorted()
        let phones = Set(losses.map(\.phone.digits) + links.map(\.phone.digits)).sorted()
        try await transaction.query(
            """
            SELECT group_id FROM groups WHERE group_id IN (
                SELECT group_id FROM members
                WHERE user_id = ANY(\(users.map(\.uuid))) AND phone = ANY(\(phones))
                UNION SELECT group_id FROM merged_numbers
                WHERE user_id = ANY(\(users.map(\.uuid))) AND phone = ANY(\(phones))
                UNION SELECT group_id FROM members WHERE phone = ANY(\(phones)) AND user_id IS NULL)
            ORDER BY group_id FOR UPDATE
            """
        )
    }

    /// Memberships that users lost.
    struct LostPlaces {
        fileprivate(set) var groups: [UserID: Set<PostgresUUID>] = [:]

        fileprivate mutating func add(_ rows: Rows) throws {
            for row in rows {
                let (groupID, userID) = try row.decode(PostgresUUID.self, PostgresUUID.self)
                groups[UserID(userID), default: []].insert(groupID)
            }
        }
    }

    /// Removes the traces of users in groups where they lost their place and got none again: otherwise nothing would find the traces when
    /// their account is closed. Links that they made end.
    func disown(
        _ lost: LostPlaces,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        for (user, groups) in lost.groups.sorted(by: { $0.key < $1.key }) {
            let left = try await transaction.query(
                """
                SELECT lost.group_id FROM unnest(\(Array(groups))) AS lost (group_id)
                WHERE NOT EXISTS (SELECT FROM members m WHERE m.group_id = lost.group_id AND m.user_id = \(user.uuid))
                """
            ).map { try $0.decode(0, as: PostgresUUID.self) }
            guard !left.isEmpty else { continue }
            try await GroupLinkStore.revokeAll(madeBy: user.uuid, in: left, nowMilliseconds, transaction)
            try await AccountStore.disown(left, user.uuid, in: transaction)
        }
    }

    /// Applies losses, and returns the other numbers by which the users who lost their place are awaited again.
    ///
    /// If a proof takes the number, a plain member's place waits for the prover, and the prover's claim links it next. All other members
    /// who are held by the number alone stay in doubt, and the group awaits the number besides them.
    func apply(
        _ losses: [PhoneLedger.Loss],
        _ now: PostgresTimestamp,
        _ lost: inout LostPlaces,
        in transaction: PostgresTransaction
    ) async throws -> Set<PhoneNumber> {
        guard !losses.isEmpty else { return [] }
        try await take(losses.filter { $0.prover != nil }, &lost, in: transaction)
        try await doubt(losses, now, &lost, in: transaction)
        try await reopen(losses, in: transaction)
        return try await resume(Set(losses.map(\.userID)).sorted(), in: transaction)
    }

    /// Makes places that a proof takes wait again. They are deleted where another row waits for the number already.
    private func take(
        _ losses: [PhoneLedger.Loss],
        _ places: inout LostPlaces,
        in transaction: PostgresTransaction
    ) async throws {
        guard !losses.isEmpty else { return }
        let rows = try await transaction.execute(
            """
            WITH lost AS MATERIALIZED (
                SELECT m.group_id, m.member_id, m.user_id, EXISTS (
                    SELECT FROM members other
                    WHERE other.group_id = m.group_id AND other.phone = m.phone AND other.user_id IS NULL) AS is_filled
                FROM unnest(\(losses.map(\.phone.digits)), \(losses.map(\.userID.uuid))) AS loss (phone, user_id)
                JOIN members m ON m.user_id = loss.user_id AND m.phone = loss.phone
                JOIN groups g USING (group_id)
                WHERE m.confirmed_by IS NULL AND m.role = 'member' AND g.owner_user_id <> m.user_id
            ), gone AS (
                DELETE FROM members m USING lost
                WHERE m.group_id = lost.group_id AND m.member_id = lost.member_id AND lost.is_filled
            ), waiting AS (
                UPDATE members m SET user_id = NULL, linked_at = NULL, unconfirmed_at = NULL, declined_by = NULL
                FROM lost
                WHERE m.group_id = lost.group_id AND m.member_id = lost.member_id AND NOT lost.is_filled
            )
            SELECT group_id, user_id FROM lost
            """
        )
        try places.add(rows)
    }

    /// Marks members as in doubt who are held only by a number that they lost, and makes their groups await it: also full ones. If a proof
    /// takes it, the group awaits it even where the member was confirmed. Where too many are in doubt the place itself waits instead.
    private func doubt(
        _ losses: [PhoneLedger.Loss],
        _ now: PostgresTimestamp,
        _ places: inout LostPlaces,
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT m.group_id, m.member_id, m.confirmed_by IS NULL AND (
                    SELECT count(*) FROM members d
                    WHERE d.group_id = m.group_id AND d.phone = m.phone AND d.unconfirmed_at IS NOT NULL
                        AND d.member_id <> m.member_id) >= \(Int64(Self.doubtsMax))
                    AND m.role = 'member' AND g.owner_user_id <> m.user_id AND NOT EXISTS (
                        SELECT FROM members p WHERE p.group_id = m.group_id AND p.phone = m.phone AND p.user_id IS NULL),
                m.user_id
            FROM unnest(\(losses.map(\.phone.digits)), \(losses.map(\.userID.uuid)), \(losses.map { $0.prover?.uuid }))
                AS loss (phone, user_id, prover)
            JOIN members m ON m.user_id = loss.user_id AND m.phone = loss.phone
            JOIN groups g USING (group_id)
            WHERE m.confirmed_by IS NULL OR loss.prover IS NOT NULL
            ORDER BY m.group_id, m.member_id
            """
        )
        guard !rows.isEmpty else { return }
        var staying: [PostgresUUID] = []
        var stayingIn: [PostgresUUID] = []
        var leaving: [PostgresUUID] = []
        var leavingFrom: [PostgresUUID] = []
        for row in rows {
            let (groupID, memberID, isTooMany, userID) = try row.decode(
                PostgresUUID.self,
                PostgresUUID.self,
                Bool.self,
                PostgresUUID.self
            )
            if isTooMany {
                leaving.append(memberID)
                leavingFrom.append(groupID)
                places.groups[UserID(userID), default: []].insert(groupID)
            } else {
                staying.append(memberID)
                stayingIn.append(groupID)
            }
        }
        let newIDs = staying.map { _ in identifiers.make(MemberID.self).uuid }
        try await transaction.execute(
            """
            WITH returned AS (
                UPDATE members m SET user_id = NULL, linked_at = NULL, unconfirmed_at = NULL, declined_by = NULL
                FROM unnest(\(leavingFrom), \(leaving)) AS leaving (group_id, member_id)
                WHERE m.group_id = leaving.group_id AND m.member_id = leaving.member_id
            ), doubted AS (
                UPDATE members m
                SET unconfirmed_at = CASE WHEN m.confirmed_by IS NULL THEN COALESCE(m.unconfirmed_at, \(now)) END
                FROM unnest(\(stayingIn), \(staying)) AS staying (group_id, member_id)
                WHERE m.group_id = staying.group_id AND m.member_id = staying.member_id
            )
            INSERT INTO members (group_id, member_id, phone, display_name, added_by, also_added_by, added_at)
            SELECT m.group_id, staying.new_id, m.phone, m.display_name, m.added_by, m.also_added_by, \(now)
            FROM unnest(\(stayingIn), \(staying), \(newIDs)) AS staying (group_id, member_id, new_id)
                JOIN members m ON m.group_id = staying.group_id AND m.member_id = staying.member_id
            ORDER BY m.group_id
            ON CONFLICT (phone, group_id) WHERE user_id IS NULL DO UPDATE SET expires_at = NULL
                WHERE members.expires_at IS NOT NULL
            """
        )
    }

    /// Makes groups await again the numbers that a member had besides the one they are held by. When a user leaves a group these numbers go
    /// with them (`AccountStore.leave`); a user removed by a loss didn't leave.
    private func reopen(_ losses: [PhoneLedger.Loss], in transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            """
            WITH again AS (
                DELETE FROM merged_numbers merged
                USING unnest(\(losses.map(\.phone.digits)), \(losses.map(\.userID.uuid))) AS loss (phone, user_id)
                WHERE merged.user_id = loss.user_id AND merged.phone = loss.phone
                RETURNING merged.*
            )
            INSERT INTO members (group_id, member_id, phone, display_name, added_by, added_at)
            SELECT group_id, member_id, phone, display_name, added_by, added_at FROM again
            ORDER BY group_id
            ON CONFLICT (phone, group_id) WHERE user_id IS NULL DO UPDATE SET expires_at = NULL
                WHERE members.expires_at IS NOT NULL
            """
        )
    }

    /// Makes groups await users who lost their place there by the other numbers that they still have, which merged into that place: a proof
    /// takes what depends on its number and nothing else. Returns those numbers.
    private func resume(_ users: [UserID], in transaction: PostgresTransaction) async throws -> Set<PhoneNumber> {
        let rows = try await transaction.execute(
            """
            WITH again AS (
                DELETE FROM merged_numbers merged
                WHERE merged.user_id = ANY(\(users.map(\.uuid))) AND NOT EXISTS (
                    SELECT FROM members m WHERE m.group_id = merged.group_id AND m.user_id = merged.user_id)
                RETURNING merged.*
            ), waiting AS (
                INSERT INTO members (group_id, member_id, phone, display_name, added_by, added_at)
                SELECT group_id, member_id, phone, display_name, added_by, added_at FROM again
                ORDER BY group_id
                ON CONFLICT (phone, group_id) WHERE user_id IS NULL DO UPDATE SET expires_at = NULL
                    WHERE members.expires_at IS NOT NULL
            )
            SELECT DISTINCT phone FROM again
            """
        )
        return Set(try rows.compactMap { PhoneNumber(stored: try $0.decode(0, as: String.self)) })
    }

    /// Ends the doubts about members who have their number again, and stops their groups' waiting for it.
    func settle(_ links: [PhoneLedger.Link], in transaction: PostgresTransaction) async throws {
        guard !links.isEmpty else { return }
        try await transaction.execute(
            """
            WITH settled AS (
                UPDATE members m SET unconfirmed_at = NULL
                FROM unnest(\(links.map(\.phone.digits)), \(links.map(\.userID.uuid))) AS link (phone, user_id)
                WHERE m.user_id = link.user_id AND m.phone = link.phone AND m.unconfirmed_at IS NOT NULL
                RETURNING m.group_id, m.phone
            )
            DELETE FROM members p USING settled
            WHERE p.group_id = settled.group_id AND p.phone = settled.phone AND p.user_id IS NULL
            """
        )
    }
}
