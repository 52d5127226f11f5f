import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// An account as responses contain it.
struct StoredAccount: Sendable, Hashable {
    let userID: UserID
    let createdAtMilliseconds: Int64
    /// Stable and positive.
    let number: Int64
    /// The app's data of the account: a JSON object; nil if it stored none yet.
    let metadata: String?
    /// Whether it is a guest's.
    let isGuest: Bool
    let identities: [StoredIdentity]

    /// The first name that a provider sent us.
    var toldName: String? { identities.lazy.compactMap(\.toldName).first }
}

/// A provider's identity of an account's person.
struct StoredIdentity: Sendable, Hashable {
    let provider: String
    let subject: String
    let email: String?
    let isEmailVerified: Bool
    let isPrivateEmail: Bool
    let toldName: String?
    let createdAtMilliseconds: Int64
    let lastSignInAtMilliseconds: Int64
    /// Apple's value at the first sign-in: 0 unsupported, 1 unknown, 2 likely real.
    let realUserStatus: Int16?
    /// Whether the provider forwards no mail to the relay address.
    let isEmailUnreachable: Bool
    /// Whether the provider says that its account is disabled.
    let isDisabled: Bool

    /// Whether the e-mail is a relay address, which only its person may see.
    var isRelay: Bool { isPrivateEmail || email.map(EmailAddress.isRelay) ?? false }
}

extension IdentityStore {
    /// The most identities of one account that are read.
    static let identitiesMax = 16
    /// The index of the provider among the columns of an account.
    private static let providerColumn = 3
    /// The index of whether it is a guest's.
    private static let guestColumn = 14

    /// An account with its identities, oldest first; nil if there is none.
    func account(_ userID: UserID, deadline: Deadline?) async throws(PostgresError) -> StoredAccount? {
        // The metadata only once, since it may be long.
        let rows = try await database.query(
            """
            SELECT account.created_at, account.number, CASE WHEN row_number() OVER listed = 1 THEN metadata END,
                provider, subject, email, is_email_verified, is_private_email, told_name, identity.created_at,
                last_sign_in_at, real_user_status, is_email_unreachable, disabled_at IS NOT NULL, guest_until IS NOT NULL
            FROM accounts account LEFT JOIN provider_identities identity USING (user_id)
                LEFT JOIN user_metadata USING (user_id)
            WHERE user_id = \(userID.uuid)
            WINDOW listed AS (ORDER BY identity.created_at, provider, subject)
            ORDER BY identity.created_at, provider, subject LIMIT \(Self.identitiesMax)
            """,
            deadline: deadline
        )
        guard let first = rows.first else { return nil }
        let (createdAt, number, metadata) = try first.decode(PostgresTimestamp.self, Int64.self, String?.self)
        let isGuest = try first.decode(Self.guestColumn, as: Bool.self)
        var identities: [StoredIdentity] = []
        // An imported account may have none, which only an operator sees then; and a guest's has none.
        for row in rows where try row.decode(Self.providerColumn, as: String?.self) != nil {
            identities.append(try StoredIdentity(row))
        }
        return StoredAccount(
            userID: userID,
            createdAtMilliseconds: createdAt.milliseconds,
            number: number,
            metadata: metadata,
            isGuest: isGuest,
            identities: identities
        )
    }
}

extension StoredIdentity {
    /// The identity of a row of ``IdentityStore/account(_:deadline:)``.
    fileprivate init(_ row: Row) throws(PostgresError) {
        let (
            _, _, _, provider, subject, email, isVerified, isPrivate, toldName, createdAt, lastSignInAt, status,
            isUnreachable, isDisabled
        ) =
            try row.decode(
                PostgresTimestamp.self,
                Int64.self,
                String?.self,
                String.self,
                String.self,
                String?.self,
                Bool.self,
                Bool.self,
                String?.self,
                PostgresTimestamp.self,
                PostgresTimestamp.self,
                Int16?.self,
                Bool.self,
                Bool.self
            )
        self.init(
            provider: provider,
            subject: subject,
            email: email,
            isEmailVerified: isVerified,
            isPrivateEmail: isPrivate,
            toldName: toldName,
            createdAtMilliseconds: createdAt.milliseconds,
            lastSignInAtMilliseconds: lastSignInAt.milliseconds,
            realUserStatus: status,
            isEmailUnreachable: isUnreachable,
            isDisabled: isDisabled
        )
    }
}
