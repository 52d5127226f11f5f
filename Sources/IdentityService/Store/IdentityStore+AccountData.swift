import IdentityDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

extension IdentityStore {
    /// How much data of an account there is.
    func trace(_ userID: UserID) async throws -> AccountTrace {
        try await AccountPlace.trace(
            userID.uuid,
            held: [
                AccountPlace("accounts"), AccountPlace("provider_identities"), AccountPlace("sessions"),
                AccountPlace("user_metadata"), AccountPlace("email_reservations"), AccountPlace("imported_ids"),
                AccountPlace("scheduled_deletions"),
                AccountPlace(
                    "passkeys",
                    "subject IN (SELECT subject FROM provider_identities WHERE user_id = person.id AND provider = 'passkey')",
                    as: "passkeys"
                ),
                AccountPlace("recovery_codes"),
                // Numbers that were not delivered to profile yet, and assertions that are still good.
                AccountPlace("work", "user_id = person.id AND queue = '\(PhoneProofWork.queue)'", as: "phone_proofs"),
                AccountPlace("phone_assertions"),
                // Services that were not notified yet have more.
                AccountPlace("work", "user_id = person.id AND queue LIKE 'closings.%'", as: "closings"),
                // Until it is decided.
                AccountPlace("absorptions", "person.id IN (absorbed, absorber)"),
                // Until its provider has confirmed the revocation.
                AccountPlace("provider_grants"),
            ],
            kept: [
                AccountPlace("security_events"), AccountPlace("account_closings"),
                AccountPlace("account_closings", "successor = person.id", as: "guests_merged"),
                // The end of an account is delivered after it.
                AccountPlace("work", "user_id = person.id AND queue LIKE 'webhooks.%'", as: "webhooks"),
            ],
            in: database
        )
    }

    /// All data of an account, as a JSON object, without the secrets of tokens. The audit log records the export.
    ///
    /// - Throws: `accountNotFound`, or what the database throws.
    func export(_ userID: UserID, nowMilliseconds: Int64) async throws -> String {
        let (user, now) = (userID.uuid, PostgresTimestamp(milliseconds: nowMilliseconds))
        let row = try await database.execute(
            """
            WITH account AS MATERIALIZED (
                SELECT user_id, number, created_at, imported_at, blocked_at, block_reason, guest_until
                FROM accounts WHERE user_id = \(user)
            ), told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.accountExported.rawValue), \(now), '{}'
                FROM account
            )
            SELECT json_build_object(
                'account', to_json(account),
                'identities', (SELECT coalesce(json_agg(listed ORDER BY created_at), '[]')
                    FROM provider_identities listed WHERE user_id = \(user)),
                'imported_ids', (SELECT coalesce(json_agg(listed), '[]')
                    FROM imported_ids listed WHERE user_id = \(user)),
                'apple_transfers', (SELECT coalesce(json_agg(listed ORDER BY exported_at), '[]')
                    FROM apple_transfers listed JOIN provider_identities USING (provider, subject)
                    WHERE user_id = \(user)),
                'passkeys', (SELECT coalesce(json_agg(listed ORDER BY created_at), '[]')
                    FROM (SELECT passkey_id, credential_id, name, rp_id, public_key, aaguid, transports, sign_count,
                            counter_behind_at, is_backup_eligible, is_backed_up, created_at, last_used_at
                        FROM passkeys WHERE subject IN (
                            SELECT subject FROM provider_identities WHERE user_id = \(user) AND provider = 'passkey')) listed),
                'recovery_codes', (SELECT coalesce(json_agg(to_jsonb(listed) - 'hash' - 'locator'), '[]')
                    FROM recovery_codes listed WHERE user_id = \(user)),
                'sessions', (SELECT coalesce(json_agg(to_jsonb(listed) - 'nonce' ORDER BY created_at), '[]')
                    FROM sessions listed WHERE user_id = \(user)),
                'guests_merged', (SELECT coalesce(json_agg(user_id ORDER BY closed_at), '[]')
                    FROM account_closings WHERE successor = \(user)),
                'scheduled_deletion', (SELECT to_json(listed) FROM scheduled_deletions listed WHERE user_id = \(user)),
                'metadata', (SELECT metadata::json FROM user_metadata WHERE user_id = \(user)),
                'email_reservations', (SELECT coalesce(json_agg(listed ORDER BY created_at), '[]')
                    FROM email_reservations listed WHERE user_id = \(user)),
                'provider_grants', (SELECT coalesce(json_agg(to_jsonb(listed) - 'sealed_token' ORDER BY granted_at), '[]')
                    FROM provider_grants listed WHERE user_id = \(user)),
                'phone_proofs', (SELECT coalesce(json_agg(listed ORDER BY id), '[]')
                    FROM work listed WHERE user_id = \(user) AND queue = \(PhoneProofWork.queue)),
                'webhooks', (SELECT coalesce(json_agg(listed ORDER BY id), '[]')
                    FROM work listed WHERE user_id = \(user) AND queue LIKE 'webhooks.%'),
                'security_events', (SELECT coalesce(json_agg(listed ORDER BY event_id), '[]')
                    FROM security_events listed WHERE user_id = \(user))
            )::text FROM account
            """
        ).first
        guard let row else { throw IdentityError.accountNotFound }
        return try row.decode(0)
    }
}
