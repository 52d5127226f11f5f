import API
import HTTPJSON
import HTTPTypes
import RPC

/// `link_identity` beside an ID token (`linkIdentity({provider, token})` of newer clients): the identity is linked to the account of
/// the bearer token, and the answer is a new session of that account, since these clients go on with the session of the answer.
///
/// Without a live session it is refused: to sign in instead would open another account, and the app would leave its own.
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
        let user = try await parts.authentication.user(request, context, in: .supabase)
        var call = IdentityV1.LinkProviderRequest()
        call.accessToken = try Authentication.requiredToken(request.headers)
        call.credentials = credentials
        call.opensSession = true
        let options = parts.authentication.callOptionsWithAddress(user.caller)
        let linked = try await parts.backends.identity.linkProvider(call, options: options)
        return (linked.tokens, linked.callerProofs)
    }
}
