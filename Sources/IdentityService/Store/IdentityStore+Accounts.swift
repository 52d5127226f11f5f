import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// An account as it is told to others.
struct StoredAccount: Sendable, Hashable {
    let userID: UserID
    let createdAtMilliseconds: Int64
    let identities: [StoredIdentity]

    /// The name that a provider told us first.
    var toldName: String? { identities.lazy.compactMap(\.toldName).first }
}

/// One provider's name for an account's person.
struct StoredIdentity: Sendable, Hashable {
    let provider: String
    let subject: String
    let email: String?
    let isEmailVerified: Bool
    let isPrivateEmail: Bool
    let toldName: String?
}

extension IdentityStore {
    /// The most identities of one account that are read.
    static let identitiesMax = 16

    /// An account with its identities, oldest first; nil if there is none.
    func account(_ userID: UserID, deadline: Deadline?) async throws(PostgresError) -> StoredAccount? {
        let rows = try await database.query(
            """
            SELECT account.created_at, provider, subject, email, is_email_verified, is_private_email, told_name
            FROM accounts account JOIN provider_identities identity USING (user_id)
            WHERE user_id = \(userID.uuid)
            ORDER BY identity.created_at, provider, subject LIMIT \(Self.identitiesMax)
            """,
            deadline: deadline
        )
        guard let first = rows.first else { return nil }
        var identities: [StoredIdentity] = []
        for row in rows {
            let (_, provider, subject, email, isVerified, isPrivate, toldName) = try row.decode(
                PostgresTimestamp.self,
                String.self,
                String.self,
                String?.self,
                Bool.self,
                Bool.self,
                String?.self
            )
            identities.append(
                StoredIdentity(
                    provider: provider,
                    subject: subject,
                    email: email,
                    isEmailVerified: isVerified,
                    isPrivateEmail: isPrivate,
                    toldName: toldName
                )
            )
        }
        let createdAt = try first.decode(0, as: PostgresTimestamp.self)
        return StoredAccount(
            userID: userID,
            createdAtMilliseconds: createdAt.milliseconds,
            identities: identities
        )
    }
}
