import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// How often a change is worked out anew because another one came between. Of those that meet, one gets through each time.
    static let metadataTriesMax = 16

    private static let metadata = KeyedRead("metadata", from: "user_metadata", key: "user_id", keyType: .uuid)

    /// Changes members of an account's metadata, and keeps the name among them if no provider told one yet.
    ///
    /// What is written takes the place of what was read and of nothing else, so that concurrent changes lose nobody's
    /// members. No lock is held meanwhile: many changes of one account keep nobody else from the database.
    ///
    /// - Returns: the metadata as it is then.
    /// - Throws: `IdentityError` with `accountNotFound`, `metadataTooLarge`, `metadataContended`, or with `emailTaken` for an address
    ///   of a dialect that is reserved for another account, and nothing is changed; or
    ///   what the database throws.
    func changeMetadata(
        of userID: UserID,
        applying change: MetadataChange,
        bytesMax: Int = UserMetadata.bytesMax,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> UserMetadata {
        for _ in 0..<Self.metadataTriesMax {
            let row = try await database.row(Self.metadata, key: ReadKey(userID.uuid), deadline: deadline)
            let known = try row?.decode(0, as: String.self)
            let metadata = try (known.map { text in try UserMetadata(stored: text) } ?? UserMetadata())
                .applying(change, bytesMax: bytesMax)
            if metadata.text == known { return metadata }
            let outcome = try await database.execute(
                replacement(
                    of: known,
                    by: metadata,
                    change,
                    of: userID,
                    now: PostgresTimestamp(milliseconds: nowMilliseconds)
                ),
                deadline: deadline
            )
            guard
                let (isKnown, isTaken, isChanged) = try outcome.first?.decode(Bool.self, Bool.self, Bool.self), isKnown
            else { throw IdentityError.accountNotFound }
            if isTaken { throw IdentityError.signIn(.emailTaken) }
            if isChanged { return metadata }
        }
        throw IdentityError.metadataContended
    }

    /// Writes metadata unless there is other than is known. The account is locked first, against its deletion, and before it the
    /// identities where one may get a name, as sign-ins and deletions do; the name goes to the identity that signed in last. A reserved
    /// address is locked until it is written: who takes the reservation meanwhile finds it in the metadata and removes it there.
    private func replacement(
        of known: String?,
        by metadata: UserMetadata,
        _ change: MetadataChange,
        of userID: UserID,
        now: PostgresTimestamp
    ) -> Query {
        let toldName = change.toldName
        let emails = change.emails
        // The last condition on the name is asked again of a row that was waited for; those before it aren't.
        return """
            WITH identities AS MATERIALIZED (
                SELECT FROM provider_identities WHERE user_id = \(userID.uuid) AND \(toldName) IS NOT NULL
                ORDER BY provider, subject FOR NO KEY UPDATE
            ), account AS MATERIALIZED (
                SELECT user_id FROM accounts
                WHERE user_id = \(userID.uuid) AND (SELECT count(*) FROM identities) >= 0 FOR KEY SHARE
            ), reserved AS MATERIALIZED (
                SELECT user_id <> \(userID.uuid) AS is_taken FROM email_reservations
                WHERE (SELECT count(*) FROM account) > 0
                    AND (dialect, email) IN (SELECT * FROM unnest(\(emails.map(\.dialect)), \(emails.map(\.email))))
                ORDER BY dialect, email FOR SHARE
            ), changed AS (
                INSERT INTO user_metadata AS stored (user_id, metadata, updated_at)
                SELECT user_id, \(metadata.text), \(now) FROM account WHERE NOT EXISTS (SELECT FROM reserved WHERE is_taken)
                ON CONFLICT (user_id) DO UPDATE SET metadata = EXCLUDED.metadata, updated_at = EXCLUDED.updated_at
                    WHERE stored.metadata = \(known)
                RETURNING user_id
            ), named AS (
                UPDATE provider_identities SET told_name = \(toldName)
                WHERE \(toldName) IS NOT NULL AND EXISTS (SELECT FROM changed)
                    AND (provider, subject) = (
                        SELECT provider, subject FROM provider_identities
                        WHERE user_id = \(userID.uuid) AND provider <> \(ProviderName.passkey.value)
                        ORDER BY last_sign_in_at DESC, provider, subject LIMIT 1)
                    AND NOT EXISTS (
                        SELECT FROM provider_identities WHERE user_id = \(userID.uuid) AND told_name IS NOT NULL)
                    AND told_name IS NULL
            )
            SELECT EXISTS (SELECT FROM account), EXISTS (SELECT FROM reserved WHERE is_taken), EXISTS (SELECT FROM changed)
            """
    }
}
