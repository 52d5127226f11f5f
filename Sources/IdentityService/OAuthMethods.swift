import API
import IdentityDomain
import RPC
import ServiceKit

/// The methods of `vestibule.identity.v1.OAuthService`: the OpenID provider for the owner's own apps.
struct OAuthMethods: OAuthServiceHandler {
    /// Tokens, sessions and keys are those of all sign-ins.
    let identity: IdentityMethods
    /// The clients by their ids.
    let clients: [String: OAuthClient]

    /// The client of a request that a client sends itself, after it has authenticated itself (RFC 6749 section 2.3): by HTTP Basic or in
    /// the form, not by both. A public client only names itself.
    func client(_ form: OAuthForm, _ shown: IdentityV1.ClientAuthentication) throws(OAuthFailure) -> OAuthClient {
        if form.hasRepeated { throw OAuthFailure(.invalidRequest, "A parameter is repeated.") }
        let inForm = form["client_secret"]
        if shown.hasBasicID {
            guard inForm == nil, form["client_id"].map({ $0 == shown.basicID }) ?? true else {
                throw OAuthFailure(.invalidRequest, "The client authenticates itself in two ways.")
            }
        }
        let id = shown.hasBasicID ? shown.basicID : form["client_id"] ?? ""
        let secret = shown.hasBasicID ? shown.basicSecret : inForm
        guard let client = clients[id], client.isConfidential == (secret != nil),
            !client.isConfidential || client.accepts(secret: secret ?? "")
        else { throw OAuthFailure(.invalidClient, "The client is unknown, or its authentication failed.") }
        return client
    }

    /// The name of our tokens' issuer, which each answer has (RFC 9207).
    var issuer: String { identity.issuer.issuer }
}
