import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// How often a change is tried again after PostgreSQL broke a deadlock.
    static let metadataRetriesMax = 3

    /// Changes members of an account's metadata, and keeps the name among them if no provider told one yet.
    ///
    /// The account's row is locked meanwhile, so that of concurrent changes each finds what the one before left. Identities
    /// come before accounts, as in a sign-in.
    ///
    /// - Returns: the metadata as it is then.
    /// - Throws: `IdentityFault.accountNotFound`, or `metadataTooLarge`; then nothing is changed.
    func changeMetadata(
        of userID: UserID,
        applying change: MetadataChange,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> UserMetadata {
        try await database.withTransaction(retries: Self.metadataRetriesMax, deadline: deadline) { transaction in
            if let name = change.toldName { try await keepToldName(name, of: userID, in: transaction) }
            let accounts = try await transaction.query(
                "SELECT FROM accounts WHERE user_id = \(userID.uuid) FOR NO KEY UPDATE"
            )
            guard !accounts.isEmpty else { throw IdentityFault.accountNotFound }
            // A statement of its own: one that waited for the lock would see the metadata of before.
            let rows = try await transaction.query(
                "SELECT metadata FROM user_metadata WHERE user_id = \(userID.uuid)"
            )
            let known = try rows.first.map { row in try UserMetadata(stored: row.decode(0, as: String.self)) }
            let metadata = try (known ?? UserMetadata()).applying(change)
            guard metadata != known else { return metadata }
            try await transaction.execute(
                """
                INSERT INTO user_metadata (user_id, metadata, updated_at)
                VALUES (\(userID.uuid), \(metadata.text), \(PostgresTimestamp(milliseconds: nowMilliseconds)))
                ON CONFLICT (user_id) DO UPDATE SET metadata = EXCLUDED.metadata, updated_at = EXCLUDED.updated_at
                """
            )
            return metadata
        }
    }

    /// Keeps a name for the identity that signed in last, unless one of the account's has one.
    private func keepToldName(
        _ name: String,
        of userID: UserID,
        in transaction: PostgresTransaction
    ) async throws {
        // The last condition is asked again of the row when it was waited for; the one before it isn't.
        try await transaction.execute(
            """
            UPDATE provider_identities SET told_name = \(name)
            WHERE (provider, subject) = (
                    SELECT provider, subject FROM provider_identities WHERE user_id = \(userID.uuid)
                    ORDER BY last_sign_in_at DESC, provider, subject LIMIT 1)
                AND NOT EXISTS (
                    SELECT FROM provider_identities WHERE user_id = \(userID.uuid) AND told_name IS NOT NULL)
                AND told_name IS NULL
            """
        )
    }
}
