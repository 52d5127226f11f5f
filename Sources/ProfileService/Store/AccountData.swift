import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// The data of an account, for an operator.
enum AccountData {
    /// How much data there is.
    static func trace(_ userID: UserID, in database: PostgresClient) async throws -> AccountTrace {
        try await AccountPlace.trace(
            userID.uuid,
            held: [
                AccountPlace("profiles"), AccountPlace("phones"), AccountPlace("usernames"),
                AccountPlace("avatars"), AccountPlace("quotas", "subject = uuid_send(person.id)"),
                // Not delivered to invites yet.
                AccountPlace("work", "user_id = person.id AND queue = '\(PhoneEventWork.queue)'", as: "phone_events"),
                AccountPlace("work", "(data ->> 'taken_from')::uuid = person.id", as: "phone_events_taken_from"),
                AccountPlace(
                    "proven_claims",
                    "user_id = person.id OR taken_from = person.id OR also_taken_from = person.id"
                ),
                AccountPlace("phone_disputes", "claimant_user_id = person.id OR holder_user_id = person.id"),
                AccountPlace("phone_cool_downs"),
                // Not delivered to identity yet.
                AccountPlace("work", "user_id = person.id AND queue = '\(ServiceEventWork.queue)'", as: "events"),
            ],
            kept: [AccountPlace("closed_accounts")],
            in: database
        )
    }

    /// All data, as a JSON object.
    static func export(_ userID: UserID, in database: PostgresClient) async throws -> String {
        let user = userID.uuid
        let rows = try await database.query(
            """
            SELECT json_build_object(
                'profile', (SELECT to_json(listed) FROM profiles listed WHERE user_id = \(user)),
                'phones', (SELECT coalesce(json_agg(listed), '[]') FROM phones listed WHERE user_id = \(user)),
                'usernames', (SELECT coalesce(json_agg(listed), '[]') FROM usernames listed WHERE user_id = \(user)),
                'phone_proofs', (SELECT coalesce(json_agg(listed), '[]') FROM proven_claims listed WHERE user_id = \(user)),
                'phone_disputes', (SELECT coalesce(json_agg(listed), '[]')
                    FROM phone_disputes listed WHERE claimant_user_id = \(user)),
                'phones_given_up', (SELECT coalesce(json_agg(listed), '[]')
                    FROM phone_cool_downs listed WHERE user_id = \(user)),
                'avatar', (SELECT json_build_object('type', type, 'base64', encode(bytes, 'base64'), 'created_at', created_at)
                    FROM avatars WHERE user_id = \(user)),
                'events', (SELECT coalesce(json_agg(listed ORDER BY id), '[]') FROM work listed WHERE user_id = \(user))
            )::text
            """
        )
        return try rows[0].decode(0)
    }
}
