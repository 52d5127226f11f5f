import JOSE

/// The request for a provider's page (OpenID Connect Core section 3.3.2.1, hybrid flow), whose answer is posted as a form.
public struct WebAuthorization: Sendable, Hashable {
    /// The audience.
    public let client: AudiencePolicy
    /// Where the provider posts to.
    public let redirectURI: String
    /// What it gives back.
    public let state: String
    /// The raw nonce.
    public let rawNonce: String
    /// The user's name at the provider, as an OAuth client knows it.
    public var loginHint: String?
    /// What the provider's page is to ask even if the provider knows the browser (OpenID Connect Core section 3.1.2.1).
    public var prompt: AuthorizationRequest.Prompt?

    /// A request.
    public init(client: AudiencePolicy, redirectURI: String, state: String, rawNonce: String) {
        self.client = client
        self.redirectURI = redirectURI
        self.state = state
        self.rawNonce = rawNonce
    }

    /// The page's URL, complete.
    ///
    /// - Parameter endpoint: the provider's, with or without a query of its own.
    public func url(of endpoint: String, provider: ProviderName) -> String {
        // Apple knows no other scopes; for others without "openid" there is no ID token.
        let scope = provider == .apple ? "name email" : "openid email profile"
        var parameters = [
            ("client_id", client.id), ("redirect_uri", redirectURI), ("response_type", "code id_token"),
            ("response_mode", "form_post"), ("scope", scope), ("state", state), ("nonce", nonceToSend),
        ]
        // Apple takes neither.
        if provider != .apple {
            if let loginHint { parameters.append(("login_hint", loginHint)) }
            // Google knows "select_account", but not "login".
            let prompt = provider == .google && prompt == .login ? .selectAccount : prompt
            if let prompt { parameters.append(("prompt", prompt.rawValue)) }
        }
        let query = parameters.map { "\($0.0)=\(Self.encode($0.1))" }.joined(separator: "&")
        return endpoint + (endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
    }

    /// The raw nonce only if nothing else would match: a thief of the token then has the nonce as well.
    private var nonceToSend: String {
        switch client.match {
        case .sha256, .either: Hex.encode(SHA256.hash(rawNonce))
        case .raw: rawNonce
        }
    }

    /// All but unreserved characters are escaped (RFC 3986 section 2.3).
    private static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return encoded
    }
}
