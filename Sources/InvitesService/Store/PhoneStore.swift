import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels

/// Who has which number, and the linking of those who wait for it, in PostgreSQL.
struct PhoneStore: Sendable {
    let database: PostgresClient

    /// Applies events that weren't applied before, in one transaction, and tells how many pending members became
    /// members.
    func apply(_ events: [PhoneEvent], nowMilliseconds: Int64, deadline: Deadline?) async throws -> Int {
        guard !events.isEmpty else { return 0 }
        return try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            orAfter: ConflictRetry.isRace,
            deadline: deadline
        ) { transaction in
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            let fresh = try await enter(events, now, in: transaction)
            guard !fresh.isEmpty else { return 0 }
            let owners = try await lock(Set(fresh.map(\.phone)), in: transaction)
            let ledger = PhoneLedger(applying: fresh, owners: owners)
            try await save(ledger.changedOwners, in: transaction)
            return try await link(ledger.links, now, in: transaction)
        }
    }

    /// Forgets events that were applied before a time, at most `limit` of them, and tells how many.
    ///
    /// An event is sent again within seconds or, after an outage, until it was answered; one that comes after its
    /// place here was forgotten is applied again with the ones behind it, and ends where they end.
    func forgetEvents(appliedBeforeMilliseconds: Int64, limit: Int) async throws -> Int {
        let time = PostgresTimestamp(milliseconds: appliedBeforeMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM inbox WHERE event_id IN (
                SELECT event_id FROM inbox WHERE applied_at < \(time) ORDER BY applied_at LIMIT \(limit)
            )
            """
        )
        return rows.affected
    }

    // MARK: - Steps of applying

    /// Writes down that the events are applied, and returns those that weren't before, in their order.
    ///
    /// A second delivery at the same moment waits here until the first has committed. Sorted, so that two deliveries
    /// of overlapping events don't wait for each other.
    private func enter(
        _ events: [PhoneEvent],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> [PhoneEvent] {
        let ids = events.map(\.id).sorted().map(\.uuid)
        let rows = try await transaction.execute(
            """
            INSERT INTO inbox (event_id, applied_at)
            SELECT event_id, \(now) FROM unnest(\(ids)) AS event (event_id) ORDER BY event_id
            ON CONFLICT (event_id) DO NOTHING
            RETURNING event_id
            """
        )
        var entered = Set(try rows.map { try $0.decode(0, as: PostgresUUID.self) })
        // Removing as they come drops an event that stands in the request twice.
        return events.filter { entered.remove($0.id.uuid) != nil }
    }

    /// Locks numbers until the transaction ends, in the order of their digits, and tells who has them.
    private func lock(
        _ phones: Set<PhoneNumber>,
        in transaction: PostgresTransaction
    ) async throws -> [PhoneNumber: UserID] {
        let digits = phones.map(\.digits).sorted()
        let rows = try await transaction.execute(
            """
            INSERT INTO phones (phone)
            SELECT phone FROM unnest(\(digits)) AS locked (phone) ORDER BY phone COLLATE "C"
            ON CONFLICT (phone) DO UPDATE SET phone = excluded.phone
            RETURNING phone, user_id
            """
        )
        var owners: [PhoneNumber: UserID] = [:]
        for row in rows {
            let (digits, userID) = try row.decode(String.self, PostgresUUID?.self)
            if let phone = PhoneNumber(stored: digits), let userID { owners[phone] = UserID(userID) }
        }
        return owners
    }

    private func save(
        _ changedOwners: [PhoneNumber: UserID?],
        in transaction: PostgresTransaction
    ) async throws {
        guard !changedOwners.isEmpty else { return }
        let phones = changedOwners.map(\.key.digits)
        let userIDs = changedOwners.map { $0.value?.uuid }
        try await transaction.execute(
            """
            UPDATE phones SET user_id = changed.user_id
            FROM unnest(\(phones), \(userIDs)) AS changed (phone, user_id)
            WHERE phones.phone = changed.phone
            """
        )
    }

    /// Makes those who wait for the numbers members, in one statement, and tells how many.
    ///
    /// Where the user is in the group already, or waits in it under two numbers, the pending rows that are too many
    /// merge into the one that stays: a user is in a group once.
    private func link(
        _ links: [PhoneLedger.Link],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Int {
        guard !links.isEmpty else { return 0 }
        let phones = links.map(\.phone.digits)
        let userIDs = links.map(\.userID.uuid)
        let rows = try await transaction.execute(
            """
            WITH waiting AS (
                SELECT m.group_id, m.member_id, link.user_id,
                    EXISTS (
                        SELECT 1 FROM members e WHERE e.user_id = link.user_id AND e.group_id = m.group_id
                    ) AS is_member,
                    row_number() OVER (
                        PARTITION BY m.group_id, link.user_id ORDER BY link.position, m.member_id
                    ) AS rank
                FROM unnest(\(phones), \(userIDs)) WITH ORDINALITY AS link (phone, user_id, position)
                JOIN members m ON m.phone = link.phone AND m.user_id IS NULL
            ), merged AS (
                DELETE FROM members m USING waiting w
                WHERE m.group_id = w.group_id AND m.member_id = w.member_id AND (w.is_member OR w.rank > 1)
            ), linked AS (
                UPDATE members m SET user_id = w.user_id, linked_at = \(now) FROM waiting w
                WHERE m.group_id = w.group_id AND m.member_id = w.member_id AND NOT w.is_member AND w.rank = 1
                RETURNING 1
            )
            SELECT count(*) FROM linked
            """
        )
        return Int(try rows[0].decode(0, as: Int64.self))
    }
}
