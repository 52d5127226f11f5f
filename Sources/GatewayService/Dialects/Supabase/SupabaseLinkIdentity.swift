import API
import HTTPJSON
import HTTPTypes
import RPC

/// `link_identity` beside an ID token (`linkIdentity({provider, token})` of newer clients): the identity is linked to the account of
/// the bearer token, and the answer is a new session of that account, since these clients go on with the session of the answer.
///
/// Without a live session identity refuses it: to sign in instead would open another account, and the app would leave its own.
enum SupabaseLinkIdentity {
    /// Links the identity that credentials name.
    ///
    /// - Returns: the tokens of the new session, and proof of its person.
    static func link(
        _ credentials: IdentityV1.SignInRequest,
        _ request: Request,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws -> (IdentityV1.SessionTokens, IdentityV1.CallerProofs) {
        var call = IdentityV1.LinkProviderRequest()
        call.accessToken = try Authentication.requiredToken(request.headers)
        call.credentials = credentials
        call.opensSession = true
        let options = parts.authentication.callOptionsWithAddress(.route(request, context))
        let linked = try await parts.methods.link(call, options: options)
        return (linked.tokens, linked.callerProofs)
    }

    /// Links the identity of a provider's page, which the session began that the code belongs to.
    ///
    /// - Returns: the tokens of the new session, and proof of its person.
    static func redeem(
        _ input: inout JSONInput,
        _ request: Request,
        _ context: RouteContext,
        _ parts: DialectParts
    ) async throws -> (IdentityV1.SessionTokens, IdentityV1.CallerProofs) {
        let code = SupabaseCode(input.string("auth_code"))
        let verifier = input.string("code_verifier")
        try input.finish()
        guard let code else {
            throw Problem(.unauthorized, code: "TICKET_INVALID", detail: "The code is not valid.")
        }
        var call = IdentityV1.LinkProviderRequest()
        call.credentials.provider = code.provider
        call.credentials.idToken = code.idTokenTicket
        call.credentials.authorizationCode = code.codeTicket
        call.credentials.codeVerifier = verifier
        call.opensSession = true
        let options = parts.authentication.callOptionsWithAddress(.route(request, context))
        let linked = try await parts.methods.link(call, options: options)
        return (linked.tokens, linked.callerProofs)
    }
}
