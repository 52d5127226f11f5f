import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

/// A provider's refresh token as it came with a sign-in. A secret.
struct NewGrant: Sendable {
    /// The account that signed in.
    let userID: UserID
    /// The provider that issued it.
    let provider: ProviderName
    /// The provider's name for the person.
    let subject: String
    /// The app that it was issued to.
    let clientID: String
    /// The token.
    let refreshToken: String
    /// When the person signed in, in Unix milliseconds: the newer of two grants counts.
    let grantedAtMilliseconds: Int64

    /// Identifies the same person at the same app. Reveals nothing of the person without their subject.
    var person: [UInt8] { SHA256.hash("vestibule grant person 1\0\(provider)\0\(clientID)\0\(subject)") }
}

/// A token as it is stored.
struct StoredGrant: Sendable, Hashable {
    let place: GrantPlace
    let sealed: SealedToken
}

/// The result of keeping a token.
enum GrantKept: String, Sendable, Hashable, CaseIterable {
    /// It is kept.
    case kept = "kept"
    /// The account or its link to the provider was gone by then: the token will be revoked.
    case abandoned = "abandoned"
    /// A newer token of the same person is kept, and this one ends with it.
    case superseded = "superseded"
}

extension IdentityStore {
    /// The limit of the vault's statements: no caller waits for them.
    static let grantStatementLimit: Duration = .seconds(5)

    /// Keeps a token, in place of the one before of the same account and app.
    ///
    /// The one before isn't revoked: at Apple and Google a revocation ends all that the person granted to the app, the new token too. For
    /// the same reason a token that is still to be revoked, of an account that the same person left, is forgotten: they have given their
    /// consent anew.
    ///
    /// If the account was absorbed meanwhile, the identity opens another one: then nothing is kept, and nothing is revoked that the
    /// person still uses; their next authorization brings the token again.
    ///
    /// The identity's row is locked against its deletion meanwhile: either the deletion comes later and finds this token
    /// (``abandonGrants(of:provider:in:)``), or this finds no identity, and the token is to be revoked from the start.
    ///
    /// - Parameters:
    ///   - place: the place that it is sealed for; its row is new.
    ///   - checkAtMilliseconds: the time of its first check, in Unix milliseconds.
    ///   - limit: the limit of the statement.
    func keep(
        _ grant: NewGrant,
        at place: GrantPlace,
        _ sealed: SealedToken,
        checkAtMilliseconds: Int64,
        limit: Duration = IdentityStore.grantStatementLimit
    ) async throws(PostgresError) -> GrantKept {
        guard let grantID = PostgresUUID(bytes: place.grantID) else { preconditionFailure("a grant's id has 16 bytes") }
        let grantedAt = PostgresTimestamp(milliseconds: grant.grantedAtMilliseconds)
        let checkAt = PostgresTimestamp(milliseconds: checkAtMilliseconds)
        let rows = try await database.execute(
            """
            WITH identity AS MATERIALIZED (
                SELECT user_id FROM provider_identities
                WHERE provider = \(grant.provider.value) AND subject = \(grant.subject) AND user_id = \(grant.userID.uuid)
                FOR KEY SHARE
            ), forgotten AS (
                DELETE FROM provider_grants
                WHERE person = \(grant.person) AND state = 'revoking' AND granted_at <= \(grantedAt)
                    AND EXISTS (SELECT FROM identity)
            ), fate AS (
                SELECT CASE WHEN EXISTS (SELECT FROM identity) THEN 'kept' ELSE 'revoking' END AS state
                WHERE EXISTS (SELECT FROM identity) OR NOT EXISTS (
                    SELECT FROM provider_grants WHERE person = \(grant.person) AND state = 'kept')
                    AND NOT EXISTS (
                        SELECT FROM account_closings WHERE user_id = \(grant.userID.uuid) AND why = 'absorbed')
            )
            INSERT INTO provider_grants AS known (
                grant_id, user_id, provider, client_id, person, key_id, sealed_token, state, granted_at, abandoned_at, next_at)
            SELECT \(grantID), \(grant.userID.uuid), \(grant.provider.value), \(grant.clientID), \(grant.person),
                \(sealed.keyID), \(sealed.bytes), state, \(grantedAt),
                CASE state WHEN 'revoking' THEN clock_timestamp() END,
                CASE state WHEN 'revoking' THEN '-infinity' ELSE \(checkAt) END
            FROM fate
            ON CONFLICT (user_id, provider, client_id) WHERE state = 'kept' DO UPDATE SET
                grant_id = EXCLUDED.grant_id, person = EXCLUDED.person, key_id = EXCLUDED.key_id,
                sealed_token = EXCLUDED.sealed_token, granted_at = EXCLUDED.granted_at, checked_at = NULL,
                next_at = EXCLUDED.next_at
                WHERE known.granted_at <= EXCLUDED.granted_at
            RETURNING state
            """,
            deadline: .after(limit)
        )
        guard let state = try rows.first?.decode(0, as: String.self) else { return .superseded }
        return state == "kept" ? .kept : .abandoned
    }

    /// Marks an account's tokens for revocation: those of one provider, or all. Once the transaction is committed, revocation is retried
    /// until the provider has answered; then they are forgotten.
    ///
    /// May be called before or after the identities are deleted in the same transaction, and again.
    ///
    /// - Parameter provider: the provider's name; nil for all.
    /// - Returns: the number of tokens.
    @discardableResult
    func abandonGrants(
        of userID: UserID,
        provider: ProviderName?,
        in transaction: PostgresTransaction
    ) async throws(PostgresError) -> Int {
        let name = provider?.value
        // A caller that is keeping a token holds these rows until it commits; the next statement sees the token.
        _ = try await transaction.execute(
            """
            SELECT FROM provider_identities
            WHERE user_id = \(userID.uuid) AND (\(name) IS NULL OR provider = \(name))
            ORDER BY provider, subject FOR UPDATE
            """
        )
        let rows = try await transaction.execute(
            """
            UPDATE provider_grants SET state = 'revoking', abandoned_at = clock_timestamp(), tries = 0, next_at = '-infinity'
            WHERE user_id = \(userID.uuid) AND state = 'kept' AND (\(name) IS NULL OR provider = \(name))
            """
        )
        return rows.affected
    }
}

extension Row {
    /// The grant of the columns in ``IdentityStore/grantColumns``.
    func grant() throws(PostgresError) -> StoredGrant {
        let (grantID, userID, name, clientID, keyID, bytes) = try decode(
            PostgresUUID.self,
            PostgresUUID.self,
            String.self,
            String.self,
            String.self,
            [UInt8].self
        )
        guard let provider = ProviderName(name) else {
            throw PostgresError.decoding(CellDecodingError(column: 2, reason: "no provider's name"))
        }
        return StoredGrant(
            place: GrantPlace(
                grantID: grantID.bytes,
                userID: UserID(userID),
                provider: provider,
                clientID: clientID
            ),
            sealed: SealedToken(keyID: keyID, bytes: bytes)
        )
    }
}

extension IdentityStore {
    /// The columns of ``StoredGrant``, in their order.
    static let grantColumns = "grant_id, user_id, provider, client_id, key_id, sealed_token"
}
