import Foundation

/// What a provider gave to the app, for a sign-in, a link or the deletion of the account.
public struct Credentials: Sendable {
    /// The provider's configured name: `apple`, `google`, `facebook`, ….
    public var provider: String
    /// The provider's ID token.
    public var idToken: String?
    /// The raw nonce whose SHA-256, or itself, the app passed to the provider: ``SignInNonce/raw``.
    public var nonce: String?
    /// The provider's authorization code. With Apple's the server can revoke the consent when the account is deleted.
    public var authorizationCode: String?
    /// The provider's access token, with ``clientID``.
    public var accessToken: String?
    /// The audience of a code or an access token without an ID token.
    public var clientID: String?
    /// The redirect URI that the code was issued for, if there was one.
    public var redirectURI: String?
    /// The PKCE verifier of the code.
    public var codeVerifier: String?
    /// The user's name. Apple says it at the first sign-in alone: the kit keeps it until the server has it, for a week at most.
    public var fullName: String?
    /// The user's e-mail address, as ``fullName``.
    public var email: String?

    /// Credentials of any provider.
    public init(provider: String) { self.provider = provider }

    /// What Apple gave.
    public static func apple(
        idToken: String,
        nonce: SignInNonce?,
        authorizationCode: String? = nil,
        fullName: String? = nil,
        email: String? = nil
    ) -> Credentials {
        var credentials = Credentials(provider: "apple")
        credentials.idToken = idToken
        credentials.nonce = nonce?.raw
        credentials.authorizationCode = authorizationCode
        credentials.fullName = fullName
        credentials.email = email
        return credentials
    }

    /// What Google gave: an ID token, or the code of its server-side flow for one of your clients.
    public static func google(
        idToken: String?,
        nonce: SignInNonce? = nil,
        authorizationCode: String? = nil,
        clientID: String? = nil
    ) -> Credentials {
        var credentials = Credentials(provider: "google")
        credentials.idToken = idToken
        credentials.nonce = nonce?.raw
        credentials.authorizationCode = authorizationCode
        credentials.clientID = clientID
        return credentials
    }

    /// What Facebook gave: an access token, or with Limited Login an ID token.
    public static func facebook(
        accessToken: String? = nil,
        clientID: String? = nil,
        idToken: String? = nil,
        nonce: SignInNonce? = nil
    ) -> Credentials {
        var credentials = Credentials(provider: "facebook")
        credentials.accessToken = accessToken
        credentials.clientID = clientID
        credentials.idToken = idToken
        credentials.nonce = nonce?.raw
        return credentials
    }

    /// `SignInWithProviderRequest`.
    package var message: JSONObject {
        var json = JSONObject(["provider": .text(provider)])
        json.set("idToken", idToken)
        json.set("nonce", nonce)
        json.set("authorizationCode", authorizationCode)
        json.set("accessToken", accessToken)
        json.set("clientId", clientID)
        json.set("redirectUri", redirectURI)
        json.set("codeVerifier", codeVerifier)
        json.set("fullName", fullName)
        json.set("email", email)
        return json
    }
}

extension Credentials: CustomStringConvertible {
    /// Without the tokens.
    public var description: String { "credentials of \(provider)" }
}
