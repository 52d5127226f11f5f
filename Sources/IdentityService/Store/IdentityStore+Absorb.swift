import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Moves what an account has here to the absorbing account, and removes it, in one transaction: identities, provider grants, and,
    /// where the other has none, metadata and reserved e-mails. Its sessions end. If the other account is gone, this data is deleted too:
    /// the other services have closed this account.
    ///
    /// Locks are taken in the order of a sign-in: identities, accounts in the order of their ids, sessions. Announce the end of sessions
    /// and kick the relays when this returns true.
    ///
    /// - Parameter vault: opens and seals provider grants; one that can't be opened is to be revoked.
    /// - Returns: whether this did it; false if it was done before.
    func absorb(
        _ absorption: Absorption,
        vault: VaultKeys?,
        eventIDs: (profile: EventID, invites: EventID),
        nowMilliseconds: Int64
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let (absorbed, absorber) = (absorption.absorbed.uuid, absorption.absorber.uuid)
        return try await database.withTransaction(retries: Self.linkRetriesMax) { transaction in
            let identities = try await lockIdentities(
                of: [absorption.absorbed, absorption.absorber],
                in: transaction
            )
            let accounts = try await transaction.query(
                "SELECT user_id FROM accounts WHERE user_id = ANY(\([absorbed, absorber])) ORDER BY user_id FOR UPDATE"
            ).map { try $0.decode(0, as: PostgresUUID.self) }
            let row = try await transaction.query(
                """
                SELECT FROM absorptions
                WHERE absorption_id = \(absorption.id.uuid) AND state = \(Absorption.Step.moving.rawValue) FOR UPDATE
                """
            )
            guard !row.isEmpty else { return false }
            // Its owner may have deleted it meanwhile.
            let isThere = accounts.contains(absorbed)
            // If the absorbed account's user asked, they sign in to the other one by the same credentials; and credentials of an account
            // that is gone are free to be linked.
            let isGivenBack = absorption.asker == absorption.absorbed || !isThere
            let moved = identities.filter { $0.userID == absorption.absorbed }.map(\.provider)
            if isThere, accounts.contains(absorber) { try await tellOpened(absorption, moved, now, in: transaction) }
            try await end(absorption, givingBack: isGivenBack, in: transaction)
            guard isThere else { return false }
            try await endSessions(of: absorption.absorbed, .accountDeleted, now, in: transaction)
            if accounts.contains(absorber) {
                try await carryBlock(from: absorption.absorbed, to: absorption.absorber, now, in: transaction)
                try await move(absorption, moved, now, in: transaction)
                try await moveGrants(absorption, vault, in: transaction)
            } else {
                try await abandonGrants(of: absorption.absorbed, provider: nil, in: transaction)
            }
            try await transaction.execute(
                removal(
                    of: absorption.absorbed,
                    why: .absorbed,
                    // Who has absorbed an empty account needs nothing of it elsewhere.
                    successor: absorption.isGuest && accounts.contains(absorber) ? absorption.absorber : nil,
                    eventIDs: eventIDs,
                    now
                )
            )
            return true
        }
    }

    /// Ends an account's sessions. Called under the lock of its row.
    func endSessions(
        of userID: UserID,
        _ why: SessionEnd,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.query(
            """
            SELECT FROM sessions WHERE user_id = \(userID.uuid) AND revoked_at IS NULL ORDER BY session_id FOR UPDATE
            """
        )
        try await transaction.execute(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = \(why.rawValue),
                expires_at = LEAST(expires_at, \(now))
            WHERE user_id = \(userID.uuid) AND revoked_at IS NULL
            """
        )
    }

    /// Moves identities, metadata and reservations, and records which providers came, or that a guest did. A scheduled deletion of the other account is
    /// cancelled: a user who has proven both merges them to keep them.
    private func move(
        _ absorption: Absorption,
        _ providers: [String],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let (absorbed, absorber) = (absorption.absorbed.uuid, absorption.absorber.uuid)
        try await transaction.execute(
            """
            WITH metadata AS (
                UPDATE user_metadata SET user_id = \(absorber) WHERE user_id = \(absorbed)
                    AND NOT EXISTS (SELECT FROM user_metadata other WHERE other.user_id = \(absorber))
            ), reservations AS (
                UPDATE email_reservations SET user_id = \(absorber) WHERE user_id = \(absorbed)
                    AND dialect NOT IN (SELECT dialect FROM email_reservations other WHERE other.user_id = \(absorber))
            ), imported AS (
                UPDATE imported_ids SET user_id = \(absorber) WHERE user_id = \(absorbed)
            ), proofs AS (
                UPDATE work SET user_id = \(absorber), key = \(absorber)::text
                WHERE user_id = \(absorbed) AND queue = \(PhoneProofWork.queue)
            ), cancelled AS (
                DELETE FROM scheduled_deletions WHERE user_id = \(absorber) RETURNING user_id
            ), cancelled_told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, \(SecurityEvent.deletionCancelled.rawValue), \(now), '{}'
                FROM cancelled
            ), told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), \(absorber), \(SecurityEvent.providerLinked.rawValue), \(now),
                    jsonb_build_object('provider', provider, 'absorbed', \(absorption.absorbed.description))
                FROM unnest(\(providers)) AS moved (provider)
            ), guest_told AS (
                INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), \(absorber), \(SecurityEvent.guestMerged.rawValue), \(now),
                    jsonb_build_object('absorbed', \(absorption.absorbed.description)::text)
                WHERE \(absorption.isGuest)
            )
            UPDATE provider_identities SET user_id = \(absorber), linked_at = \(now) WHERE user_id = \(absorbed)
            """
        )
    }

    /// Seals provider grants for the account that they move to. A grant that can't be opened is to be revoked.
    private func moveGrants(
        _ absorption: Absorption,
        _ vault: VaultKeys?,
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT \(unsafeSQL: Self.grantColumns) FROM provider_grants
            WHERE user_id = \(absorption.absorbed.uuid) AND state = 'kept' ORDER BY grant_id FOR UPDATE
            """
        )
        for row in rows {
            let grant = try row.grant()
            guard let id = PostgresUUID(bytes: grant.place.grantID), let vault,
                let token = try? vault.open(grant.sealed, at: grant.place)
            else { continue }
            let place = GrantPlace(
                grantID: grant.place.grantID,
                userID: absorption.absorber,
                provider: grant.place.provider,
                clientID: grant.place.clientID
            )
            let sealed = vault.seal(token, at: place)
            try await transaction.execute(
                """
                UPDATE provider_grants SET user_id = \(absorption.absorber.uuid), key_id = \(sealed.keyID),
                    sealed_token = \(sealed.bytes)
                WHERE grant_id = \(id)
                """
            )
        }
        // The rest.
        try await abandonGrants(of: absorption.absorbed, provider: nil, in: transaction)
    }
}
