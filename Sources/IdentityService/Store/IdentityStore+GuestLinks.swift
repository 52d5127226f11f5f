import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Makes a guest's account a full one, in one transaction: it gets the identity of verified credentials, which are used up; all its
    /// sessions end, and the credentials open a new one.
    ///
    /// Somebody else may have begun the guest's session and planted it on the user's device. So nothing of before the link opens the
    /// account after it: neither the session that asks nor another one, no code and no token of theirs.
    ///
    /// Locks are taken as by a link: the credentials' fingerprint, identities, the account, sessions in the order of their ids. Of two links
    /// at one moment, or of a link and the end of the session, the second finds a session that has ended. Announce the end of sessions
    /// when this returns.
    ///
    /// - Returns: the new session. The credentials return it again within a minute, by a sign-in.
    /// - Throws: `IdentityError` as ``link(_:to:opensSession:nowMilliseconds:deadline:)`` does, and nothing is done; or what the database
    ///   throws.
    func linkGuest(
        _ signIn: SignIn,
        to session: LinkingSession,
        new: NewSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        guard AccountAct.acceptedProofs.contains(signIn.proof) else { throw IdentityError.proofRequired }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        for _ in 1...Self.linkTriesMax {
            do {
                return try await database.withTransaction(
                    retries: Self.linkRetriesMax,
                    deadline: deadline
                ) { transaction in
                    try await linkGuest(signIn, to: session, new: new, now, in: transaction)
                }
            } catch is IdentityAppeared {
                continue
            }
        }
        throw PostgresError.unavailable("the identity was signed in with for the first time again and again")
    }

    private func linkGuest(
        _ signIn: SignIn,
        to session: LinkingSession,
        new: NewSession,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> SignInOutcome {
        let told = try await claim(signIn, for: session.userID, opening: new.sessionID, now, in: transaction)
        let identities = try await lockIdentities(of: [session.userID], and: signIn, in: transaction)
        let openedBy = try await check(session, for: .linkProvider, now, in: transaction)
        guard openedBy == ProviderName.guest.value else { throw IdentityError.sessionRevoked }
        try await checkNotAbsorbing([session.userID], in: transaction)
        if identities.contains(where: { $0.userID != session.userID }) { throw IdentityError.link(.identityTaken) }
        guard let told, identities.isEmpty else {
            throw try await refusal(of: signIn) { try await transaction.execute($0) }
        }
        let user = session.userID.uuid
        let accounts = try await transaction.execute(
            """
            UPDATE accounts SET guest_until = NULL
            WHERE user_id = \(user) AND guest_until IS NOT NULL AND blocked_at IS NULL
            RETURNING number
            """
        )
        guard let number = try accounts.first?.decode(0, as: Int64.self) else {
            throw IdentityError.signIn(.accountBlocked)
        }
        try await insert(signIn, told, for: session, isGuest: true, now, in: transaction)
        try await endSessions(of: session.userID, .proven, now, in: transaction)
        let end = PostgresTimestamp(milliseconds: now.milliseconds + limits.absoluteSeconds * 1000)
        let row = try await transaction.execute(
            """
            INSERT INTO sessions (
                session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, created_at,
                last_used_at, expires_at, key_thumbprint)
            SELECT \(new.sessionID.uuid), \(user), \(signIn.provider.value), \(signIn.clientID), \(signIn.deviceName), false,
                \(new.nonce), \(signIn.proof.rawValue), GREATEST(\(now), sessions_from), \(now), \(end),
                \(new.key?.bytes)
            FROM session_epoch
            RETURNING created_at
            """
        )[0]
        let facts = SessionFacts(
            userID: session.userID,
            sessionID: new.sessionID,
            provider: signIn.provider,
            clientID: signIn.clientID,
            signedInAtSeconds: try row.decode(0, as: PostgresTimestamp.self).secondsSince1970,
            proof: signIn.proof,
            key: new.key
        )
        let email = EmailFacts(
            address: signIn.email ?? told.email,
            isVerified: signIn.isEmailVerified,
            isPrivate: signIn.isPrivateEmail
        )
        return opened(
            facts,
            new,
            toldName: signIn.fullName ?? told.fullName ?? signIn.tokenName,
            email: email,
            accountNumber: number,
            proof: signIn.proof,
            nowSeconds: now.milliseconds / 1000
        )
    }
}
