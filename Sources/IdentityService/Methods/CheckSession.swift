import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

extension IdentityMethods {
    /// Tells whose session an access token or a single token belongs to, and gives a gateway proofs of that. What a token says
    /// may be known from before; the session's row is read each time. From when on sessions count at all was read within the
    /// last second. Where the caller names an act, the sign-in must be recent and proven for it.
    func checkSession(
        _ request: IdentityV1.CheckSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.CheckSessionResponse {
        try await context.answer {
            let now = clock.nowMilliseconds
            var response: IdentityV1.CheckSessionResponse
            let state: SessionState
            if SingleTokens.isSingleToken(request.accessToken) {
                let claims: SingleClaims
                let token = try verifiedTokens.singleToken(
                    request.accessToken,
                    generation: ownKeys.generation,
                    of: mint.singleTokens
                )
                (claims, response) = answer(token, now, context)
                let session = try await aliveSession(of: claims, acceptsExpired: false, deadline: context.deadline)
                state = session.state.session
                try state.checkProof(in: request.dialect)
                await recordUse(of: session)
            } else {
                let claims: AccessClaims
                // Before the token is judged: of keys that are replaced meanwhile the answer has the former id.
                let keysID = ownKeys.current.id
                let token = try verifiedTokens.token(
                    request.accessToken,
                    generation: ownKeys.generation,
                    of: issuer
                )
                (claims, response) = answer(token, now, context)
                try checkKey(of: claims, context)
                do {
                    try claims.checkLifetime(nowSeconds: now / 1000)
                } catch {
                    // It lets nobody in any more, but shows that it was received.
                    acknowledge(claims)
                    throw error
                }
                let sessionsFrom = try await sessionEpoch.sessionsFrom(deadline: context.deadline)
                let alive = try await store.aliveSession(
                    of: claims,
                    sessionsFrom: sessionsFrom,
                    nowMilliseconds: now,
                    deadline: context.deadline
                )
                state = alive.state
                try state.checkProof(in: request.dialect)
                if response.hasCallerProofs {
                    let renewal = CallerProof.renewedAtMilliseconds(madeAtMilliseconds: now)
                    response.goodForMilliseconds = state.goodForMilliseconds(
                        nowMilliseconds: now,
                        untilMilliseconds: min(renewal, claims.expiresAtSeconds * 1000)
                    )
                    if response.goodForMilliseconds > 0 {
                        response.sessionsFromMilliseconds = max(0, sessionsFrom.milliseconds)
                        response.keysID = .init(keysID)
                    }
                }
                if let number = claims.number, alive.received.use(of: number) != .known { acknowledge(claims) }
            }
            if let act = AccountAct(request.act) {
                try state.check(for: act, nowMilliseconds: now, recentSeconds: store.limits.deletionSignInSeconds)
            }
            response.proof = IdentityV1.Proof(state.proof)
            return response
        }
    }

    /// What a token says, and the answer to it but for how its session was proven.
    private func answer<Claims>(
        _ token: VerifiedToken<Claims>,
        _ nowMilliseconds: Int64,
        _ context: ServerContext
    ) -> (Claims, IdentityV1.CheckSessionResponse) {
        var response = token.response
        if gateways.believes(context.peer.certificateNames) {
            response.callerProofs = token.callerProofs(by: ownKeys.current.proofs, nowMilliseconds: nowMilliseconds)
        }
        return (token.claims, response)
    }

    /// Has it written down, behind this call, that the session's token of this number was received.
    private func acknowledge(_ claims: AccessClaims) {
        guard let number = claims.number else { return }
        acknowledgements.add(NumberSeen(sessionID: claims.sessionID, number: number))
    }
}

extension AccountAct {
    /// The act that a caller names; nil for none.
    fileprivate init?(_ act: IdentityV1.CheckedAct) {
        switch act {
        case .exportData: self = .exportData
        case .handOverGroup: self = .handOverGroup
        case .unspecified: return nil
        // Of a later gateway: judged by the strictest rule there is.
        case .UNRECOGNIZED: self = .addPasskey
        }
    }
}
