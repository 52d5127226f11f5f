import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Makes a guest's account a full one. The session proves nobody, and needs no age: it must be live, and the credentials be proven by a
    /// nonce or a code. An identity that opens another account is taken: a guest's account is merged by that account alone (`AbsorbGuest`).
    func linkGuest(
        _ credentials: IdentityV1.SignInRequest,
        to owner: (userID: UserID, sessionID: SessionID, isGuest: Bool),
        _ context: ServerContext
    ) async throws -> IdentityV1.LinkProviderResponse {
        guard let verified = try await verified(credentials, context) else {
            throw IdentityError.signIn(.ticketInvalid)
        }
        let (signIn, now) = (verified.signIn, clock.nowMilliseconds)
        try verified.checkMayLink(owner.sessionID)
        let outcome: SignInOutcome
        do {
            // A user whose app moved to another team of Apple's, and who isn't imported yet, is found by the previous identity.
            try await store.moveSubject(of: signIn, nowMilliseconds: now, deadline: context.deadline)
            outcome = try await store.linkGuest(
                signIn,
                to: LinkingSession(userID: owner.userID, sessionID: owner.sessionID),
                new: newSession(of: signIn, credentials, context),
                nowMilliseconds: now,
                deadline: context.deadline
            )
        } catch IdentityError.sessionRevoked {
            // The same request came before this one in that moment.
            return try await linkedGuest(credentials, of: owner.userID, context, known: verified)
        } catch IdentityError.token(.replayed) where verified.kind == .code {
            throw IdentityError.signIn(.codeSpent)
        }
        revocations.announce()
        guests.count(.linked)
        await grants.take(
            verified.evidence,
            of: owner.userID,
            provider: signIn.provider,
            address: addressKey.code(of: context.metadata),
            nowMilliseconds: now
        )
        return try await response(owner.userID, outcome.session, credentials, context)
    }

    /// The answer for a caller that lost it, with the session that the same credentials opened a moment ago.
    ///
    /// - Throws: `IdentityError.sessionRevoked` if they didn't.
    func linkedGuest(
        _ credentials: IdentityV1.SignInRequest,
        of guest: UserID,
        _ context: ServerContext,
        known: VerifiedLink? = nil
    ) async throws -> IdentityV1.LinkProviderResponse {
        do {
            let outcome: SignInOutcome
            if let verified = if let known { known } else { try await verified(credentials, context) } {
                outcome = try await store.earlierSession(
                    verified.signIn,
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
            } else {
                outcome = try await store.sessionBoughtByTickets(
                    Self.fingerprint(ofTickets: credentials),
                    expectedSubject: "",
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
            }
            guard outcome.session.facts.userID == guest else { throw IdentityError.sessionRevoked }
            return try await response(guest, outcome.session, credentials, context)
        } catch is IdentityError {
            throw IdentityError.sessionRevoked
        }
    }

    /// The guest of an access token; nil for a token of any other user's.
    func guest(of accessToken: String, _ context: ServerContext) -> UserID? {
        guard let claims = try? issuer.verifiedAccessClaims(accessToken), claims.isGuest,
            (try? checkKey(of: claims, context)) != nil
        else { return nil }
        return claims.userID
    }
}
