import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Links the identity that credentials name to the caller's account. The credentials are judged as a sign-in's, and so are not by
    /// any e-mail of theirs; but both they and the session must be proven by a nonce or a code, and the session recent (`AccountAct`).
    func linkProvider(
        _ request: IdentityV1.LinkProviderRequest,
        context: ServerContext
    ) async throws -> IdentityV1.LinkProviderResponse {
        // Again it is linked.
        try await context.answer(mayBeRepeated: true) {
            if request.accessToken.isEmpty { return try await linkByTickets(request, context) }
            let owner: (userID: UserID, sessionID: SessionID, isGuest: Bool)
            do {
                owner = try await self.owner(request.accessToken, context)
            } catch {
                // The same request may have made a guest's account a full one, whose session ended with it.
                guard (error as? RPCError)?.reason == "SESSION_REVOKED",
                    let guest = guest(of: request.accessToken, context)
                else {
                    throw error
                }
                return try await linkedGuest(request.credentials, of: guest, context)
            }
            return try await link(request, of: owner, context)
        }
    }

    /// Links what a request names to the account of a live session.
    func link(
        _ request: IdentityV1.LinkProviderRequest,
        of owner: (userID: UserID, sessionID: SessionID, isGuest: Bool),
        _ context: ServerContext
    ) async throws -> IdentityV1.LinkProviderResponse {
        var response: IdentityV1.LinkProviderResponse
        var hasEnded = owner.isGuest
        if owner.isGuest {
            response = try await linkGuest(request.credentials, to: owner, context)
        } else {
            let session = LinkingSession(userID: owner.userID, sessionID: owner.sessionID)
            let linked = try await link(request, to: session, context)
            response = try await self.response(linked.userID, linked.session, request.credentials, context)
            hasEnded = linked.userID != owner.userID
        }
        if hasEnded { response.endedSessionID = owner.sessionID.description }
        return response
    }

    /// The account of a link as it is then, and the tokens of a session to go on with.
    func response(
        _ userID: UserID,
        _ session: StoredSession?,
        _ credentials: IdentityV1.SignInRequest,
        _ context: ServerContext
    ) async throws -> IdentityV1.LinkProviderResponse {
        guard let account = try await store.account(userID, deadline: context.deadline) else {
            throw IdentityError.sessionInvalid
        }
        // The account that was to be absorbed was deleted in that moment, and the identity with it: next time it is linked.
        guard account.identities.contains(where: { $0.provider == credentials.provider }) else {
            throw IdentityError.link(.absorptionUnderWay)
        }
        var response = IdentityV1.LinkProviderResponse()
        response.account = IdentityV1.Account(account, isForOthers: false)
        guard let session else { return response }
        response.tokens = try tokens(of: session, style: credentials.tokenStyle, context)
        if let proofs = callerProofs(of: session, for: context) { response.callerProofs = proofs }
        return response
    }

    /// Credentials of what is to be linked, once they are verified.
    struct VerifiedLink {
        let evidence: Evidence
        let signIn: SignIn
        let kind: CredentialKind

        /// Throws `ticketInvalid` for tickets that were made for another session.
        func checkMayLink(_ sessionID: SessionID) throws(IdentityError) {
            guard evidence.linkingSession ?? sessionID == sessionID else { throw .signIn(.ticketInvalid) }
        }
    }

    /// Verifies credentials of what is to be linked; nil for tickets that are used up.
    func verified(_ credentials: IdentityV1.SignInRequest, _ context: ServerContext) async throws -> VerifiedLink? {
        guard let provider = ProviderName(credentials.provider).flatMap({ providers[$0] }) else {
            throw IdentityError.providerUnknown
        }
        let kind = try CredentialKind(credentials)
        let found = try await evidence(
            of: credentials,
            kind,
            provider: provider,
            isForAct: true,
            isForLink: true,
            context: context
        )
        guard let evidence = found else { return nil }
        let signIn = SignIn(
            evidence,
            provider: provider.policy.name,
            deviceName: credentials.deviceName,
            createsAccount: true,
            nowSeconds: clock.nowSeconds,
            leewaySeconds: provider.policy.clockLeewaySeconds
        )
        return VerifiedLink(evidence: evidence, signIn: signIn, kind: kind)
    }

    /// Which account the identity opens then, and the session that was opened if it isn't the caller's.
    private func link(
        _ request: IdentityV1.LinkProviderRequest,
        to session: LinkingSession,
        _ context: ServerContext
    ) async throws -> (userID: UserID, session: StoredSession?) {
        let credentials = request.credentials
        guard let verified = try await verified(credentials, context) else {
            // The answer before may have been lost.
            let fingerprint = Self.fingerprint(ofTickets: credentials)
            guard let name = ProviderName(credentials.provider) else { throw IdentityError.providerUnknown }
            let isKnown = try await store.haveLinked(
                tickets: fingerprint,
                name,
                to: session.userID,
                deadline: context.deadline
            )
            // What linked is not there any more, so it opens no session either.
            guard isKnown, !request.opensSession else { throw IdentityError.signIn(.ticketInvalid) }
            return (session.userID, nil)
        }
        let now = clock.nowMilliseconds
        let signIn = verified.signIn
        try verified.checkMayLink(session.sessionID)
        let new = Result { () throws(IdentityError) in try newSession(of: signIn, credentials, context) }
        if request.opensSession { _ = try new.get() }
        do {
            // A user whose app moved to another team of Apple's, and who isn't imported yet, is found by the previous identity.
            try await store.moveSubject(of: signIn, nowMilliseconds: now, deadline: context.deadline)
            let linked = try await link(signIn, to: session, new: new, opensSession: request.opensSession, now, context)
            await grants.take(
                verified.evidence,
                of: linked.userID,
                provider: signIn.provider,
                address: addressKey.code(of: context.metadata),
                nowMilliseconds: now
            )
            guard request.opensSession, linked.session == nil else { return linked }
            return (linked.userID, try await sessionAfterLinking(signIn, new: new.get(), nowMilliseconds: now, context))
        } catch IdentityError.token(.replayed) where verified.kind == .code {
            throw IdentityError.signIn(.codeSpent)
        }
    }

    private func link(
        _ signIn: SignIn,
        to session: LinkingSession,
        new: Result<NewSession, IdentityError>,
        opensSession: Bool,
        _ now: Int64,
        _ context: ServerContext
    ) async throws -> (userID: UserID, session: StoredSession?) {
        do {
            _ = try await store.link(
                signIn,
                to: session,
                opensSession: opensSession,
                nowMilliseconds: now,
                deadline: context.deadline
            )
            return (session.userID, nil)
        } catch IdentityError.link(.identityTaken) {
            // Before anything is merged: the session that goes on must be one that may be opened.
            return try await absorb(signIn, session, new: new.get(), now, context)
        }
    }

    /// Has the account that the identity opens absorb the caller's, or the other way round.
    private func absorb(
        _ signIn: SignIn,
        _ session: LinkingSession,
        new: NewSession,
        _ now: Int64,
        _ context: ServerContext
    ) async throws -> (userID: UserID, session: StoredSession?) {
        let id = identifiers.make(EventID.self)
        let begun = try await store.beginAbsorption(
            id,
            signIn,
            of: session,
            nowMilliseconds: now,
            deadline: context.deadline
        )
        let done: Absorption?
        do {
            done = try await absorber.finish(begun, isNew: begun.id == id)
        } catch let error as IdentityError {
            throw error
        } catch {
            // It is gone on with, here or elsewhere.
            throw IdentityError.link(.absorptionUnderWay)
        }
        guard let done else { throw IdentityError.link(.identityTaken) }
        if done.absorber == session.userID { return (session.userID, nil) }
        // The one that has absorbed, and no new one if that is gone since.
        var opening = signIn
        opening.createsAccount = false
        let outcome = try await store.openSession(
            opening,
            new: new,
            nowMilliseconds: now,
            deadline: context.deadline
        )
        return (outcome.session.facts.userID, outcome.session)
    }
}
