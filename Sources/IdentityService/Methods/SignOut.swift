import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Ends the session of a token, or more of its account's.
    ///
    /// Its own session ends by any token of it, expired or not. A token that is not ours names no session: nothing is left
    /// to end, which is what the caller wants (RFC 7009 section 2.2). More sessions end only by what would let its bearer in
    /// now: an old token out of a log must sign nobody out everywhere, and who asks for it has to learn if it wasn't done.
    func signOut(
        _ request: IdentityV1.SignOutRequest,
        context: ServerContext
    ) async throws -> IdentityV1.SignOutResponse {
        try await context.answer {
            var response = IdentityV1.SignOutResponse()
            guard let token = request.token else { throw IdentityError.tokenMissing }
            switch request.scope {
            case .unspecified:
                if let session = try endingSession(of: token, context) {
                    try await store.signOut(
                        session,
                        nowMilliseconds: clock.nowMilliseconds,
                        deadline: context.deadline
                    )
                    revocations.announce()
                    response.sessionID = session.sessionID.description
                }
            case .everywhere, .others:
                let session = try session(of: token, mustBeCurrent: true, context)
                if case .refreshToken = token { try await checkKey(of: session.sessionID, context) }
                let verdict = try await store.signOutAll(
                    of: session,
                    keepsOwn: request.scope == .others,
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: context.deadline
                )
                if let fault = verdict.fault { throw fault }
                revocations.announce()
                response.userID = session.userID?.description ?? ""
                if request.scope == .everywhere { response.sessionID = session.sessionID.description }
            case .UNRECOGNIZED:
                throw IdentityError.scopeUnknown
            }
            return response
        }
    }

    /// The session of a token that ends it; nil for a token that isn't ours.
    ///
    /// - Throws: `keyNotProven` for a bound access token without a proof: its owner must not believe that the session has ended.
    private func endingSession(
        of token: IdentityV1.SignOutRequest.OneOf_Token,
        _ context: ServerContext
    ) throws(IdentityError) -> SigningOut? {
        do throws(IdentityError) {
            return try session(of: token, mustBeCurrent: false, context)
        } catch .keyNotProven {
            throw .keyNotProven
        } catch {
            return nil
        }
    }

    /// What a token of ours says of its session.
    func session(
        of token: IdentityV1.SignOutRequest.OneOf_Token,
        mustBeCurrent: Bool,
        _ context: ServerContext
    ) throws(IdentityError) -> SigningOut {
        let now = clock.nowSeconds
        switch token {
        case .accessToken(let text) where SingleTokens.isSingleToken(text):
            let claims = try mint.singleTokens.verifiedClaims(text)
            if mustBeCurrent { try claims.checkLifetime(nowSeconds: now) }
            return SigningOut(claims)
        case .accessToken(let text):
            let claims = try issuer.verifiedAccessClaims(text)
            try checkKey(of: claims, context)
            if mustBeCurrent { try claims.checkLifetime(nowSeconds: now) }
            return SigningOut(claims)
        case .refreshToken(let text):
            guard let token = mint.refreshKeys.verify(text) else { throw .refreshTokenInvalid }
            return SigningOut(token)
        }
    }
}
