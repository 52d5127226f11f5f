import Models
import Postgres
import ServiceModels
import ServiceStore

/// What follows when events of numbers that were held are told again: behind each number's events goes one that says who has the
/// number now. So an event that is told too late, because a version before let later ones of its number pass, doesn't have the last
/// word.
struct PhoneRestatement: Sendable {
    let identifiers: IdentifierSource
    let clock: WallClock

    /// Adds what is to be said behind these rows of the outbox.
    func add(behind rowIDs: [Int64], in transaction: PostgresTransaction) async throws {
        let rows = try await transaction.query(
            "SELECT phone, user_id FROM outbox WHERE id = ANY(\(rowIDs)) ORDER BY id"
        )
        var lastUsers: [String: PostgresUUID] = [:]
        for row in rows {
            let (phone, userID) = try row.decode(String.self, PostgresUUID.self)
            if PhoneNumber(stored: phone) != nil { lastUsers[phone] = userID }
        }
        try await restate(lastUsers, in: transaction)
    }

    /// Adds who has each number now: its owner, or that the user of its last event hasn't.
    private func restate(_ lastUsers: [String: PostgresUUID], in transaction: PostgresTransaction) async throws {
        guard !lastUsers.isEmpty else { return }
        let phones = lastUsers.keys.sorted()
        // Until the commit, so that the order of ids is that of the number's changes.
        let rows = try await transaction.query(
            "SELECT phone, user_id FROM phones WHERE phone = ANY(\(phones)) ORDER BY phone FOR UPDATE"
        )
        var owners: [String: PostgresUUID] = [:]
        for row in rows {
            let (phone, userID) = try row.decode(String.self, PostgresUUID.self)
            owners[phone] = userID
        }
        let users = phones.compactMap { owners[$0] ?? lastUsers[$0] }
        let kinds = phones.map { owners[$0] == nil ? "released" : "claimed" }
        let eventIDs = phones.map { _ in identifiers.make(EventID.self).uuid }
        let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
        try await transaction.execute(
            """
            INSERT INTO outbox (event_id, kind, phone, user_id, created_at)
            SELECT event_id, kind, phone, user_id, \(now)
            FROM unnest(\(eventIDs), \(kinds), \(phones), \(users)) AS event (event_id, kind, phone, user_id)
            """
        )
    }
}

extension OutboxDesk {
    /// That of profile.
    static func profile(_ database: PostgresClient, clock: WallClock) -> OutboxDesk {
        let restatement = PhoneRestatement(identifiers: IdentifierSource(clock: clock), clock: clock)
        let numbers = OutboxPlace(PhoneOutboxRows(), receiver: "invites") {
            try await restatement.add(behind: $0, in: $1)
        }
        return OutboxDesk(
            [numbers, OutboxPlace(EventRows(), receiver: "identity")],
            database: database,
            nowMilliseconds: { clock.nowMilliseconds }
        )
    }
}
