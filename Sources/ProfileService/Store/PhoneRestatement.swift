import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// What is said as events of numbers that were held are told again, or discarded: behind each number's events goes one that says who has
/// the number now. So an event that is told too late, because a version before let later ones of its number pass, doesn't have the last
/// word, and one that is never told leaves nothing wrong for ever.
struct PhoneRestatement: Sendable {
    /// Has a number while nobody has, as nobody can see: whoever takes it then waits, as for anybody who takes it.
    private static let nobody = PostgresUUID(high: 0, low: 0)

    let database: PostgresClient
    let identifiers: IdentifierSource
    let clock: WallClock

    /// Adds what is to be said behind these rows of the outbox, which hold up their numbers' later events still. One transaction for each
    /// number: it waits for nobody while others wait for it.
    func add(behind rowIDs: [Int64]) async throws {
        let rows = try await database.query(
            """
            SELECT phone, user_id, bool_or(by_deletion) FROM (
                SELECT phone, user_id, by_deletion FROM outbox WHERE id = ANY(\(rowIDs))
                UNION ALL SELECT phone, taken_from, false FROM outbox WHERE id = ANY(\(rowIDs)) AND taken_from IS NOT NULL
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
                // Until the commit, so that the order of ids is that of the number's changes.
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

    /// Says that nobody has a number: of each user that the events name, since invites may think of any of them that they have it.
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
            INSERT INTO outbox (event_id, kind, phone, user_id, created_at, by_deletion, trace)
            SELECT event_id, 'released', \(phone), user_id, \(now), by_deletion, \(Traces.current)
            FROM unnest(\(eventIDs), \(users), \(areDeleted)) AS event (event_id, user_id, by_deletion)
            """
        )
    }

    /// Says who has a number; and whom they took it from by proof, if that is the last that was to be told of it.
    private func claim(
        _ phone: String,
        by owner: PostgresUUID,
        behind rowIDs: [Int64],
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT taken_from FROM outbox WHERE id = ANY(\(rowIDs)) AND phone = \(phone) AND taken_from IS NOT NULL AND id > COALESCE((
                SELECT max(id) FROM outbox WHERE phone = \(phone) AND NOT (user_id = \(owner) AND kind = 'claimed')), 0)
            ORDER BY id
            """
        )
        var losers = try rows.map { try $0.decode(0, as: PostgresUUID?.self) }
        if losers.isEmpty { losers = [nil] }
        let eventIDs = losers.map { _ in identifiers.make(EventID.self).uuid }
        try await transaction.execute(
            """
            INSERT INTO outbox (event_id, kind, phone, user_id, created_at, is_proven, taken_from, trace)
            SELECT event_id, 'claimed', \(phone), \(owner), \(now),
                EXISTS (SELECT FROM phones WHERE phone = \(phone) AND proven_at IS NOT NULL), taken_from, \(Traces.current)
            FROM unnest(\(eventIDs), \(losers)) WITH ORDINALITY AS event (event_id, taken_from, position) ORDER BY position
            """
        )
    }
}

extension OutboxAdmin {
    /// That of profile.
    static func profile(_ database: PostgresClient, clock: WallClock) -> OutboxAdmin {
        let restatement = PhoneRestatement(
            database: database,
            identifiers: IdentifierSource(clock: clock),
            clock: clock
        )
        let numbers = OutboxPlace(PhoneOutboxRows(), receiver: "invites") { try await restatement.add(behind: $0) }
        return OutboxAdmin(
            [numbers, OutboxPlace(EventRows(), receiver: "identity")],
            database: database,
            nowMilliseconds: { clock.nowMilliseconds }
        )
    }
}
