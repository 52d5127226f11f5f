import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// For how long an access token of a page is valid, in seconds: as long as a page may take to be made.
    private static let pageTokenSeconds: Int64 = 60

    /// Returns an access token of a browser's session for the gateway's own pages. The session's proof is for the methods to check that
    /// take the token.
    func useBrowserSession(
        _ request: IdentityV1.UseBrowserSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.UseBrowserSessionResponse {
        try await context.answer {
            var response = IdentityV1.UseBrowserSessionResponse()
            response.signIn = identity.signInPage
            let session = try await browserSession(request.browserToken, deadline: context.deadline)
            guard let session else { return response }
            let now = identity.clock.nowMilliseconds
            response.session.accessToken = try identity.issuer.accessToken(
                for: session.facts,
                number: 0,
                tokenID: Base64URL.encode(identity.randomBytes(16)),
                nowSeconds: now / 1000,
                lifetimeSeconds: min(Self.pageTokenSeconds, max(session.expiresAtSeconds - now / 1000, 1))
            )
            response.session.userID = session.userID.description
            response.session.sessionID = session.sessionID.description
            response.session.provider = session.facts.provider.value
            response.session.signedInAtMilliseconds = session.signedInAtMilliseconds
            response.session.expiresAtSeconds = session.expiresAtSeconds
            await identity.recordUse(
                of: session.sessionID,
                lastUsedAtMilliseconds: session.lastUsedAtMilliseconds
            )
            return response
        }
    }
}
