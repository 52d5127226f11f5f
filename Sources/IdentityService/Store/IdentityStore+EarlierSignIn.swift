import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// The session that tickets opened which no longer exist.
    ///
    /// - Parameter expectedSubject: the subject that the app names; empty for any.
    /// - Throws: `ticketInvalid` if they opened none, or `accountBlocked`.
    func sessionBoughtByTickets(
        _ fingerprint: [UInt8],
        expectedSubject: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        let rows = try await database.query(earlierSessionStatement([fingerprint]), deadline: deadline)
        guard let row = rows.first else { throw IdentityError.signIn(.ticketInvalid) }
        var (earlier, outcome, subject) = try decode(row)
        try checkUnblocked(row)
        guard earlier.isRetry(nowMilliseconds: nowMilliseconds, limits: limits) else {
            throw IdentityError.signIn(.ticketInvalid)
        }
        guard expectedSubject.isEmpty || subject == expectedSubject else { throw IdentityError.signIn(.subjectDiffers) }
        outcome.session = try await numbered(outcome.session, deadline: deadline)
        return outcome
    }

    /// The session that a proof of work opened a moment ago.
    ///
    /// - Throws: `IdentityError.guest(.workSpent)` if that was longer ago, or it is in use or over.
    func guestSession(
        openedBy fingerprint: [UInt8],
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws -> SignInOutcome {
        guard let row = try await execute(earlierSessionStatement([fingerprint])).first else {
            throw IdentityError.guest(.workSpent)
        }
        let (earlier, outcome, _) = try decode(row)
        guard earlier.isRetry(nowMilliseconds: nowMilliseconds, limits: limits) else {
            throw IdentityError.guest(.workSpent)
        }
        return outcome
    }

    /// The session that a token opened before, with its account's number.
    func earlierSession(
        _ signIn: SignIn,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        var outcome = try await earlierSession(signIn, nowMilliseconds: nowMilliseconds) {
            try await database.execute($0, deadline: deadline)
        }
        outcome.session = try await numbered(outcome.session, deadline: deadline)
        return outcome
    }

    /// The session that the token opened before. Read after the statement that opens one found nothing to do, so whatever prevented it is
    /// committed.
    func earlierSession(
        _ signIn: SignIn,
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws -> SignInOutcome {
        let fingerprints = [signIn.fingerprint] + (signIn.retryFingerprint.map { [$0] } ?? [])
        guard let row = try await execute(earlierSessionStatement(fingerprints)).first else {
            throw try await refusal(of: signIn, execute)
        }
        let (earlier, outcome, _) = try decode(row)
        try checkUnblocked(row)
        guard earlier.isRetry(nowMilliseconds: nowMilliseconds, limits: limits) else {
            throw IdentityError.token(.replayed)
        }
        return outcome
    }

    /// Why credentials that have opened no session were refused.
    func refusal(of signIn: SignIn, _ execute: Execute) async throws -> IdentityError {
        // Issued before all sessions were ended: then it may have opened one of them, and the row that recorded it may be lost.
        let issuedAt = PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds)
        let row = try await execute(
            """
            SELECT (SELECT sessions_from <= \(issuedAt) FROM session_epoch) IS TRUE, EXISTS (
                SELECT FROM provider_identities
                WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)), EXISTS (
                SELECT FROM provider_identities
                WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)
                    AND disabled_at IS NOT NULL), EXISTS (
                SELECT FROM provider_identities
                WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)
                    AND tokens_from > \(issuedAt)), EXISTS (
                SELECT FROM sign_ins taken WHERE fingerprint = \(signIn.fingerprint)
                    AND NOT EXISTS (SELECT FROM sessions WHERE sessions.session_id = taken.session_id))
            """
        ).first
        let (isCurrent, isKnown, isDisabled, isFromBefore, isSpent) =
            try row?.decode(Bool.self, Bool.self, Bool.self, Bool.self, Bool.self)
            ?? (false, false, false, false, false)
        if !isCurrent { return .token(.expired) }
        if isDisabled { return .signIn(.providerAccountDisabled) }
        if isFromBefore { return .token(.expired) }
        if !signIn.mayBeFirst { return .signIn(.tokenStale) }
        if !signIn.createsAccount, !isKnown { return .accountNotFound }
        if signIn.ticketHash != nil { return .signIn(.ticketInvalid) }
        // Credentials that have linked a provider, or whose session is gone; or a new person in a call that creates no account, whom
        // another call has registered since.
        return signIn.createsAccount || isSpent ? .token(.replayed) : .accountNotFound
    }

    /// The session of the first of these that opened one: the second may have come with another code before.
    private func earlierSessionStatement(_ fingerprints: [[UInt8]]) -> Query {
        """
        SELECT taken.created_at, session.generation, \(unsafeSQL: Self.isEnded), session.opened_account,
            session.user_id, session.session_id, session.provider, session.client_id, session.created_at,
            session.expires_at, session.nonce, session.proof,
            (SELECT number FROM accounts WHERE accounts.user_id = session.user_id),
            identity.subject, identity.told_name, identity.email,
            COALESCE(identity.is_email_verified, false), COALESCE(identity.is_private_email, false),
            EXISTS (SELECT FROM accounts WHERE accounts.user_id = session.user_id AND blocked_at IS NOT NULL),
            session.key_thumbprint
        FROM sign_ins taken
        JOIN sessions session ON session.session_id = taken.session_id
        LEFT JOIN LATERAL (
            SELECT subject, told_name, email, is_email_verified, is_private_email FROM provider_identities
            WHERE user_id = session.user_id AND provider = session.provider ORDER BY created_at LIMIT 1
        ) identity ON true
        WHERE taken.fingerprint = ANY (\(fingerprints))
        ORDER BY array_position(\(fingerprints), taken.fingerprint) LIMIT 1
        """
    }

    /// Credentials whose session was ended by a block are refused with the block.
    private func checkUnblocked(_ row: Row) throws {
        if try row.decode(18, as: Bool.self) { throw IdentityError.signIn(.accountBlocked) }
    }

    private func decode(_ row: Row) throws -> (EarlierSignIn, SignInOutcome, subject: String?) {
        let (takenAt, generation, isRevoked, openedAccount) = try row.decode(
            PostgresTimestamp.self,
            Int64.self,
            Bool.self,
            Bool.self
        )
        guard let provider = ProviderName(try row.decode(6, as: String.self)) else {
            throw PostgresError.decoding(CellDecodingError(column: 6, reason: "no provider name"))
        }
        let facts = SessionFacts(
            userID: UserID(try row.decode(4, as: PostgresUUID.self)),
            sessionID: SessionID(try row.decode(5, as: PostgresUUID.self)),
            provider: provider,
            clientID: try row.decode(7),
            signedInAtSeconds: try row.decode(8, as: PostgresTimestamp.self).secondsSince1970,
            proof: try row.decode(11),
            key: try row.decode(19)
        )
        let earlier = EarlierSignIn(
            atMilliseconds: takenAt.milliseconds,
            generation: UInt32(clamping: generation),
            isRevoked: isRevoked
        )
        let session = StoredSession(
            facts: facts,
            nonce: try row.decode(10),
            number: earlier.generation,
            toldName: try row.decode(14),
            endsAtSeconds: try row.decode(9, as: PostgresTimestamp.self).secondsSince1970,
            accountNumber: try row.decode(12),
            email: EmailFacts(
                address: try row.decode(15),
                isVerified: try row.decode(16),
                isPrivate: try row.decode(17)
            )
        )
        let outcome = SignInOutcome(session: session, isNewUser: openedAccount, proof: facts.proof)
        return (earlier, outcome, try row.decode(13, as: String?.self))
    }
}
