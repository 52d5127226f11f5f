import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// Corrects the receiver when parked number events are retried or discarded: after each number's events it adds one that says who has the
/// number now. So an event that is delivered too late, because a previous version let later ones of its number pass, isn't the last one,
/// and an event that is never delivered leaves no lasting error.
struct PhoneRestatement: Sendable {
    /// Holds a number while no user has it, invisibly: a user who takes it then waits, as for any concurrent claim.
    private static let nobody = PostgresUUID(high: 0, low: 0)

    let database: PostgresClient
    let identifiers: IdentifierSource
    let clock: WallClock

    /// Adds the correcting events behind these rows, which still block their numbers' later events. One transaction for each
    /// number: it waits for nobody while others wait for it.
    func add(behind rowIDs: [Int64]) async throws {
        let rows = try await database.query(
            """
            SELECT phone, user_id, bool_or(by_deletion) FROM (
                SELECT key AS phone, user_id, COALESCE((data ->> 'by_deletion')::boolean, false) AS by_deletion
                FROM work WHERE id = ANY(\(rowIDs))
                UNION ALL SELECT key, (data ->> 'taken_from')::uuid, false
                FROM work WHERE id = ANY(\(rowIDs)) AND data ->> 'taken_from' IS NOT NULL
            ) AS named GROUP BY phone, user_id ORDER BY phone, user_id
            """
        )
        var named: [(phone: String, users: [PostgresUUID], areDeleted: [Bool])] = []
        for row in rows {
            let (phone, userID, isDeleted) = try row.decode(String.self, PostgresUUID.self, Bool.self)
            guard PhoneNumber(stored: phone) != nil else { continue }
            if named.last?.phone != phone { named.append((phone, [], [])) }
            named[named.count - 1].users.append(userID)
            named[named.count - 1].areDeleted.append(isDeleted)
        }
        for (phone, users, areDeleted) in named {
            try await database.withTransaction(retries: ProfileStore.retriesMax) { transaction in
                // Held until the commit, so that the order of ids is that of the number's changes.
                let row = try await transaction.execute(
                    """
                    INSERT INTO phones (phone, user_id, claimed_at) VALUES (\(phone), \(Self.nobody), \(now))
                    ON CONFLICT (phone) DO UPDATE SET phone = excluded.phone
                    RETURNING user_id
                    """
                )[0]
                let owner = try row.decode(0, as: PostgresUUID.self)
                if owner == Self.nobody {
                    try await release(phone, by: users, areDeleted, in: transaction)
                } else {
                    try await claim(phone, by: owner, behind: rowIDs, in: transaction)
                }
            }
        }
    }

    private var now: PostgresTimestamp { PostgresTimestamp(milliseconds: clock.nowMilliseconds) }

    /// Adds an event that no user has a number: one for each user of the events, since invites may believe that any of them has it.
    private func release(
        _ phone: String,
        by users: [PostgresUUID],
        _ areDeleted: [Bool],
        in transaction: PostgresTransaction
    ) async throws {
        let eventIDs = users.map { _ in identifiers.make(EventID.self).uuid }
        try await transaction.execute(
            """
            WITH free AS (
                DELETE FROM phones WHERE phone = \(phone) AND user_id = \(Self.nobody)
            )
            INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
            SELECT \(PhoneEventWork.queue), event_id, \(phone), user_id, \(now), \(Traces.current),
                jsonb_build_object('kind', 'released', 'by_deletion', by_deletion)
            FROM unnest(\(eventIDs), \(users), \(areDeleted)) AS event (event_id, user_id, by_deletion)
            """
        )
    }

    /// Adds an event that says who has a number; and whom they took it from by proof, if that was the last undelivered event about it.
    private func claim(
        _ phone: String,
        by owner: PostgresUUID,
        behind rowIDs: [Int64],
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT (data ->> 'taken_from')::uuid FROM work
            WHERE id = ANY(\(rowIDs)) AND key = \(phone) AND data ->> 'taken_from' IS NOT NULL AND id > COALESCE((
                SELECT max(id) FROM work WHERE queue = \(PhoneEventWork.queue) AND key = \(phone)
                    AND NOT (user_id = \(owner) AND data ->> 'kind' = 'claimed')), 0)
            ORDER BY id
            """
        )
        var losers = try rows.map { try $0.decode(0, as: PostgresUUID?.self) }
        if losers.isEmpty { losers = [nil] }
        let eventIDs = losers.map { _ in identifiers.make(EventID.self).uuid }
        try await transaction.execute(
            """
            INSERT INTO work (queue, event_id, key, user_id, created_at, trace, data)
            SELECT \(PhoneEventWork.queue), event_id, \(phone), \(owner), \(now), \(Traces.current), jsonb_build_object(
                'kind', 'claimed', 'taken_from', taken_from,
                'is_proven', EXISTS (SELECT FROM phones WHERE phone = \(phone) AND proven_at IS NOT NULL))
            FROM unnest(\(eventIDs), \(losers)) WITH ORDINALITY AS event (event_id, taken_from, position) ORDER BY position
            """
        )
    }
}

extension WorkAdmin {
    /// The administration of profile's work.
    static func profile(_ database: PostgresClient, clock: WallClock) -> WorkAdmin {
        let restatement = PhoneRestatement(
            database: database,
            identifiers: IdentifierSource(clock: clock),
            clock: clock
        )
        return WorkAdmin(
            database,
            nowMilliseconds: { clock.nowMilliseconds },
            preparations: [PhoneEventWork.queue: { try await restatement.add(behind: $0) }]
        )
    }
}
