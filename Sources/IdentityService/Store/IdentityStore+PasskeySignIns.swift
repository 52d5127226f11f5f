import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import WebAuthn

/// A passkey as a sign-in finds it.
struct SigningPasskey: Sendable {
    let id: PasskeyID
    let stored: StoredPasskey
}

extension IdentityStore {
    /// The passkey that a sign-in names; nil if there is none for a relying party.
    func passkey(
        _ credentialID: [UInt8],
        of subject: String,
        for party: String,
        deadline: Deadline?
    ) async throws -> SigningPasskey? {
        let row = try await database.query(
            """
            SELECT passkey_id, public_key, sign_count, is_backup_eligible FROM passkeys
            WHERE subject = \(subject) AND credential_id = \(credentialID) AND rp_id = \(party)
            """,
            deadline: deadline
        ).first
        let found = try row?.decode(PostgresUUID.self, [UInt8].self, Int64.self, Bool.self)
        guard let (id, publicKey, signCount, isEligible) = found else { return nil }
        let stored = StoredPasskey(
            publicKey: publicKey,
            signCount: UInt32(clamping: signCount),
            isBackupEligible: isEligible
        )
        return SigningPasskey(id: PasskeyID(id), stored: stored)
    }

    /// Notes that a passkey has opened a session. The counter never goes back. One that is lower than before is noted and locks nobody
    /// out: a copy of the key may sign elsewhere, or the authenticator counts otherwise (WebAuthn Level 3 section 6.1.1). The same
    /// number again may be a retry.
    ///
    /// - Returns: false if the passkey isn't there any more: then the session must not be either.
    func notePasskeyUse(
        _ credentialID: [UInt8],
        of subject: String,
        _ assertion: PasskeyAssertion,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let (now, count) = (PostgresTimestamp(milliseconds: nowMilliseconds), Int64(assertion.signCount))
        let rows = try await database.execute(
            """
            UPDATE passkeys SET sign_count = GREATEST(sign_count, \(count)),
                counter_behind_at = CASE WHEN \(count) < sign_count THEN \(now) ELSE counter_behind_at END,
                is_backed_up = \(assertion.isBackedUp), last_used_at = \(now)
            WHERE subject = \(subject) AND credential_id = \(credentialID)
            """,
            deadline: deadline
        )
        return rows.affected > 0
    }

    /// The relying party of a passkey that is not of this one; nil if there is none.
    static func relyingPartyOfPasskeys(
        not party: String?,
        in database: PostgresClient,
        _ deadline: Deadline
    ) async throws -> String? {
        try await database.query(
            "SELECT rp_id FROM passkeys WHERE rp_id IS DISTINCT FROM \(party) LIMIT 1",
            deadline: deadline
        ).first?.decode(String.self)
    }
}
