import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Exchanges a refresh token for its successor. A forged one costs no work in the database.
    func refresh(
        _ request: IdentityV1.RefreshRequest,
        context: ServerContext
    ) async throws -> IdentityV1.RefreshResponse {
        try await context.answer {
            // An OAuth client presents its refresh tokens where it authenticates itself.
            let session = try await exchange(request, ofClient: nil, context)
            var response = IdentityV1.RefreshResponse()
            response.tokens = try mint.tokens(of: session)
            response.suggestedDisplayName = session.toldName ?? ""
            if let proofs = callerProofs(of: session, for: context) { response.callerProofs = proofs }
            return response
        }
    }

    /// The session of a refresh token, moved on to its next number.
    ///
    /// - Parameter clientID: the OAuth client that presents it; nil for another app. The token of somebody else is as good as a forged one.
    nonisolated(nonsending) func exchange(
        _ request: IdentityV1.RefreshRequest,
        ofClient clientID: String?,
        _ context: ServerContext
    ) async throws -> StoredSession {
        guard let token = mint.refreshKeys.verify(request.refreshToken), token.number < UInt32.max else {
            refreshes.count(.forged)
            throw IdentityError.refreshTokenInvalid
        }
        let now = clock.nowMilliseconds
        let isBelieved = gateways.believes(context.peer.certificateNames)
        let verdict: RefreshVerdict
        let session: StoredSession?
        do {
            (verdict, session) = try await store.refresh(
                token,
                ofClient: clientID,
                key: provenKey(context),
                presentedAtMilliseconds: store.limits.presentedAtMilliseconds(
                    told: isBelieved ? request.presentedAtMilliseconds : 0,
                    nowMilliseconds: now,
                    pauseMilliseconds: pauses.pauseMilliseconds(nowMilliseconds: now)
                ),
                nowMilliseconds: now,
                deadline: context.deadline
            )
        } catch {
            refreshes.count(RefreshMetrics.Outcome(error))
            throw error
        }
        refreshes.count(.judged(verdict))
        if verdict == .reused { revocations.announce() }
        if let fault = verdict.fault { throw fault }
        guard let session else { throw IdentityError.sessionInvalid }
        return session
    }
}
