import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// A user's name that came with an attempt that did not sign in.
struct KeptName: Sendable, Hashable {
    /// The key of its row.
    let key: [UInt8]
    let fullName: String
    /// The token that it came with, sealed; nil if the token was verified when it came.
    let sealedToken: [UInt8]?
    /// When it came, in Unix milliseconds.
    let toldAtMilliseconds: Int64
}

extension IdentityStore {
    /// Keeps the details that came with credentials that can't sign in now. The details kept first stay. Nothing is kept where too much
    /// is kept already, in total or from one address.
    ///
    /// - Parameters:
    ///   - sealedToken: the token, if it is still to be verified.
    ///   - addressCode: the client's address as a keyed hash; nil where it is not known.
    func keep(
        _ told: FirstSignInDetails,
        sealedToken: [UInt8]? = nil,
        addressCode: [UInt8]?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + FirstSignInDetails.keptSeconds * 1000)
        _ = try await database.execute(
            """
            INSERT INTO told_once (fingerprint, provider, full_name, email, address_key, created_at, expires_at, subject, client_id,
                device_name, sealed_token)
            SELECT \(told.key), \(told.provider.value), \(told.fullName), \(told.email), \(addressCode), \(now), \(end),
                \(told.person?.subject), \(told.person?.clientID), \(told.person?.deviceName), \(sealedToken)
            WHERE (SELECT count(*) FROM (
                    SELECT FROM told_once WHERE address_key = \(addressCode) LIMIT \(FirstSignInDetails.perAddressMax)) theirs)
                    < \(Int64(FirstSignInDetails.perAddressMax))
                AND (SELECT count(*) FROM (SELECT FROM told_once LIMIT \(FirstSignInDetails.countMax)) kept)
                    < \(Int64(FirstSignInDetails.countMax))
            ON CONFLICT (fingerprint) DO NOTHING
            """,
            deadline: deadline
        )
    }

    /// The names that were kept for a person before their account was created, oldest first.
    func keptNames(
        of person: FirstSignInDetails.Person,
        _ provider: ProviderName,
        before userID: UserID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> [KeptName] {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT fingerprint, full_name, sealed_token, told_once.created_at FROM told_once, accounts
            WHERE provider = \(provider.value) AND subject = \(person.subject) AND client_id = \(person.clientID)
                AND device_name IS NOT DISTINCT FROM \(person.deviceName) AND full_name IS NOT NULL AND expires_at > \(now)
                AND user_id = \(userID.uuid) AND told_once.created_at <= accounts.created_at
            ORDER BY told_once.created_at, fingerprint LIMIT \(FirstSignInDetails.perPersonMax)
            """,
            deadline: deadline
        )
        return try rows.map { row throws(PostgresError) in
            let (key, fullName, sealedToken, toldAt) = try row.decode(
                [UInt8].self,
                String.self,
                [UInt8]?.self,
                PostgresTimestamp.self
            )
            return KeptName(
                key: key,
                fullName: fullName,
                sealedToken: sealedToken,
                toldAtMilliseconds: toldAt.milliseconds
            )
        }
    }

    /// Gives an account's identity the name that was kept for it, if it has none, and forgets all that was kept for the person there.
    ///
    /// - Returns: whether the identity got the name.
    func take(
        _ name: String,
        toldFor person: FirstSignInDetails.Person,
        _ provider: ProviderName,
        of userID: UserID,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        let named = try await database.execute(
            """
            WITH taken AS (
                DELETE FROM told_once WHERE provider = \(provider.value) AND subject = \(person.subject)
                    AND client_id = \(person.clientID)
            )
            UPDATE provider_identities SET told_name = \(name)
            WHERE provider = \(provider.value) AND subject = \(person.subject) AND user_id = \(userID.uuid)
                AND told_name IS NULL
            """,
            deadline: deadline
        )
        return named.affected > 0
    }

    /// Forgets the details kept for the user of an account that is being closed. Rows that a sign-in has locked are left to it or to
    /// their expiry.
    func forgetToldNames(of userID: UserID, in transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            """
            DELETE FROM told_once WHERE fingerprint IN (
                SELECT fingerprint FROM told_once, provider_identities identity
                WHERE identity.user_id = \(userID.uuid) AND told_once.provider = identity.provider
                    AND told_once.subject = identity.subject
                FOR UPDATE OF told_once SKIP LOCKED)
            """
        )
    }

    /// Forgets details whose credentials were never proven, at most `limit`, and returns how many.
    func forgetToldOnce(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM told_once WHERE fingerprint IN (
                SELECT fingerprint FROM told_once WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
