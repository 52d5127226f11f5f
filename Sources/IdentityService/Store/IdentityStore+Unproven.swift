import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Registers somebody who proves nothing, and opens a session that is good in one dialect.
    ///
    /// - Parameter reservation: an address to reserve for the account in the same transaction; nil if there is none.
    /// - Throws: `accountExists` if the person is known already, proven or not, or `emailTaken`: these change nothing. Or what
    ///   the database throws.
    func registerUnproven(
        _ signIn: UnprovenSignIn,
        new: NewSession,
        reservation: EmailReservation?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        let statement = registerStatement(signIn, new: new, nowMilliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: Self.reservationRetriesMax,
            deadline: deadline
        ) { transaction in
            guard let row = try await transaction.execute(statement).first else {
                throw IdentityError.signIn(.accountExists)
            }
            let outcome = try outcome(row, signIn, new: new, nowMilliseconds: nowMilliseconds)
            if let reservation {
                let userID = outcome.session.facts.userID
                try await reserve(reservation, for: userID, nowMilliseconds: nowMilliseconds) {
                    try await transaction.execute($0)
                }
            }
            return outcome
        }
    }

    /// Opens a session for somebody who proves nothing, who was registered so in the same dialect and has proven nothing since.
    ///
    /// The identity's row is changed, so that this and the first proof go one after the other: whichever is second sees the
    /// other.
    ///
    /// - Throws: `accountNotFound` for anybody else, `accountBlocked`; or what the database throws.
    func openUnproven(
        _ signIn: UnprovenSignIn,
        new: NewSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        let statement = openUnprovenStatement(signIn, new: new, nowMilliseconds: nowMilliseconds)
        let rows: Rows
        do {
            rows = try await database.execute(statement, deadline: deadline)
        } catch {
            throw Self.refusal(error)
        }
        guard let row = rows.first else { throw IdentityError.accountNotFound }
        var outcome = try outcome(row, signIn, new: new, nowMilliseconds: nowMilliseconds)
        outcome.session = try await numbered(outcome.session, deadline: deadline)
        return outcome
    }

    private func registerStatement(_ signIn: UnprovenSignIn, new: NewSession, nowMilliseconds: Int64) -> Query {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return """
            WITH identity AS (
                INSERT INTO provider_identities (
                    provider, subject, user_id, email, is_email_told, is_email_verified, is_private_email, told_name,
                    created_at, last_sign_in_at, unproven_dialect)
                VALUES (\(signIn.provider.value), \(signIn.subject), \(new.userID.uuid), \(signIn.email), true, false,
                    false, \(signIn.fullName), \(now), \(now), \(signIn.dialect))
                ON CONFLICT (provider, subject) DO NOTHING
                RETURNING user_id, told_name, email
            ), account AS (
                INSERT INTO accounts (user_id, created_at) SELECT user_id, \(now) FROM identity RETURNING number
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, dialect,
                    created_at, last_used_at, expires_at)
                SELECT \(new.sessionID.uuid), user_id, \(signIn.provider.value), \(signIn.clientID),
                    \(signIn.deviceName), true, \(new.nonce), 'unproven', \(signIn.dialect),
                    GREATEST(\(now), sessions_from), \(now), \(sessionEnd(now))
                FROM identity, (SELECT sessions_from FROM session_epoch LIMIT 1) epoch
            )
            SELECT user_id, told_name, email, (SELECT number FROM account) FROM identity
            """
    }

    private func openUnprovenStatement(_ signIn: UnprovenSignIn, new: NewSession, nowMilliseconds: Int64) -> Query {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return """
            WITH identity AS (
                UPDATE provider_identities SET last_sign_in_at = \(now)
                WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)
                    AND unproven_dialect = \(signIn.dialect) AND disabled_at IS NULL
                RETURNING user_id, told_name, email
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, dialect,
                    created_at, last_used_at, expires_at)
                SELECT \(new.sessionID.uuid), user_id, \(signIn.provider.value), \(signIn.clientID),
                    \(signIn.deviceName), false, \(new.nonce), 'unproven', \(signIn.dialect),
                    GREATEST(\(now), sessions_from), \(now), \(sessionEnd(now))
                FROM identity, (SELECT sessions_from FROM session_epoch LIMIT 1) epoch
            )
            SELECT user_id, told_name, email,
                (SELECT number FROM accounts WHERE accounts.user_id = identity.user_id),
                end_excess_sessions(user_id, \(new.sessionID.uuid), \(sessionsKept), \(now), \(idleStart(now)))
            FROM identity
            """
    }

    private func sessionEnd(_ now: PostgresTimestamp) -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince1970: now.microsecondsSince1970 + limits.absoluteSeconds * 1_000_000)
    }

    private func outcome(
        _ row: Row,
        _ signIn: UnprovenSignIn,
        new: NewSession,
        nowMilliseconds: Int64
    ) throws(PostgresError) -> SignInOutcome {
        let (userID, toldName, email, number) = try row.decode(
            PostgresUUID.self,
            String?.self,
            String?.self,
            Int64?.self
        )
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: new.sessionID,
            provider: signIn.provider,
            clientID: signIn.clientID,
            signedInAtSeconds: nowMilliseconds / 1000,
            proof: .unproven
        )
        let emailFacts = EmailFacts(address: email, isVerified: false, isPrivate: false)
        return opened(
            facts,
            new,
            toldName: toldName,
            email: emailFacts,
            accountNumber: number,
            proof: .unproven,
            nowSeconds: nowMilliseconds / 1000
        )
    }
}
