import Images
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels
import ServiceStore

extension ProfileStore {
    /// An uploaded avatar to serve.
    struct StoredAvatar: Sendable {
        /// The file; empty if it wasn't requested.
        let bytes: [UInt8]
        /// Its media type.
        let contentType: String
    }

    /// Stores an image as a user's avatar under a new, secret id, and deletes the previous one, in one transaction. It counts for the user
    /// over all replicas, even if it is the same image again.
    ///
    /// - Returns: the profile as it is then.
    /// - Throws: ``ProfileError``; then nothing was changed.
    func setAvatar(
        _ image: SafeImage,
        of userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Profile {
        try await database.withTransaction(retries: Self.retriesMax, deadline: deadline) { transaction in
            var (profile, _) = try await lock(userID, in: transaction)
            // Before the image, which is written only if allowed: it and the count are the user's own, and no other call waits for either.
            let wait = try await QuotaStore.spend(
                limits.avatarUploads,
                of: userID.bytes,
                nowMilliseconds: nowMilliseconds,
                in: transaction
            )
            if let wait { throw ProfileError.tooManyUploads(retryAfterMilliseconds: wait) }
            var generator = SystemRandomNumberGenerator()
            let id = AvatarID(using: &generator)
            profile.avatar = Avatar(upload: id)
            // As a save does.
            profile.updatedAtMilliseconds = max(nowMilliseconds, profile.updatedAtMilliseconds)
            profile.revision += 1
            try await transaction.execute(
                """
                WITH image AS (
                    INSERT INTO avatars (id, user_id, type, bytes, created_at)
                    VALUES (\(id.uuid), \(userID.uuid), \(image.kind.rawValue), \(image.bytes),
                        \(PostgresTimestamp(milliseconds: nowMilliseconds)))
                    ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, type = excluded.type, bytes = excluded.bytes,
                        created_at = excluded.created_at
                )
                UPDATE profiles SET avatar = \(profile.avatar?.value), revision = \(profile.revision),
                    updated_at = \(PostgresTimestamp(milliseconds: profile.updatedAtMilliseconds))
                WHERE user_id = \(userID.uuid)
                """
            )
            return profile
        }
    }

    /// An uploaded avatar; nil if no avatar has this id any more. One round trip.
    func avatar(_ id: AvatarID, withImage: Bool, deadline: Deadline?) async throws -> StoredAvatar? {
        let rows = try await database.query(
            "SELECT type, CASE WHEN \(withImage) THEN bytes ELSE ''::bytea END FROM avatars WHERE id = \(id.uuid)",
            deadline: deadline
        )
        return try rows.first.map { row in
            let (contentType, bytes) = try row.decode(String.self, [UInt8].self)
            return StoredAvatar(bytes: bytes, contentType: contentType)
        }
    }

    /// Deletes an image that a user's profile no longer has.
    func forget(_ upload: AvatarID, of userID: UserID, in transaction: PostgresTransaction) async throws {
        // By the user, too, who is the key of the table's rows.
        try await transaction.execute("DELETE FROM avatars WHERE id = \(upload.uuid) AND user_id = \(userID.uuid)")
    }
}

extension AvatarID {
    /// The id as PostgreSQL's type of 128 bits.
    fileprivate var uuid: PostgresUUID { PostgresUUID(high: high, low: low) }
}
