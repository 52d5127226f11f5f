import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// Ends the browser's session at a client's wish (OpenID Connect RP-Initiated Logout 1.0). A request without an ID token of the
    /// session's user may come from any site, so the user confirms it first.
    func endBrowserSession(
        _ request: IdentityV1.EndBrowserSessionRequest,
        context: ServerContext
    ) async throws -> IdentityV1.EndBrowserSessionResponse {
        try await context.answer {
            var response = IdentityV1.EndBrowserSessionResponse()
            let form = OAuthForm(request.parameters)
            let hint = form["id_token_hint"].flatMap { identity.issuer.hintedSession($0) }
            do throws(OAuthFailure) {
                (response.redirectUri, response.state) = try destination(form, hint)
            } catch {
                response.failure = .init(error)
                return response
            }
            let session = try await browserSession(request.browserToken, deadline: context.deadline)
            guard let session else { return response }
            guard request.isConfirmed || hint?.userID == session.userID else {
                response.needsConfirmation = true
                return response
            }
            _ = try await identity.store.endSession(
                session.sessionID,
                of: session.userID,
                reason: .signOut,
                nowMilliseconds: identity.clock.nowMilliseconds,
                deadline: context.deadline
            )
            identity.revocations.announce()
            logoutsAreDue()
            response.userID = session.userID.description
            return response
        }
    }

    /// Where the browser goes afterwards: only to an address that the client's entry has, and only if the client is known (section 3).
    private func destination(_ form: OAuthForm, _ hint: HintedSession?) throws(OAuthFailure) -> (String, String) {
        if form.hasRepeated { throw OAuthFailure(.invalidRequest, "A parameter is repeated.") }
        if form["id_token_hint"] != nil, hint == nil {
            throw OAuthFailure(.invalidRequest, "The id_token_hint is no ID token of ours.")
        }
        if let hint, let named = form["client_id"], named != hint.clientID {
            throw OAuthFailure(.invalidRequest, "The client_id is not that of the id_token_hint.")
        }
        guard let uri = form["post_logout_redirect_uri"] else { return ("", "") }
        guard let id = hint?.clientID ?? form["client_id"], let client = clients[id],
            client.postLogoutRedirectURIs.contains(where: { $0.admits(uri) })
        else { throw OAuthFailure(.invalidRequest, "The post_logout_redirect_uri is none of the client's.") }
        let state = form["state"] ?? ""
        guard state.utf8.count <= AuthorizationRequest.stateBytesMax else {
            throw OAuthFailure(.invalidRequest, "The state is too long.")
        }
        return (uri, state)
    }
}
