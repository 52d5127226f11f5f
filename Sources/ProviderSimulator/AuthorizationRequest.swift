import HTTPJSON

/// Why the browser gets an error page of the provider instead of a redirect: the client or the redirect URI isn't trustworthy.
struct AuthorizationError: Error, Hashable {
    /// The error code of RFC 6749 section 4.1.2.1.
    var word: String
    /// A description for the developer who reads the page.
    var sentence: String
}

/// An app's request to an authorization endpoint.
struct AuthorizationRequest: Sendable {
    /// How the answer reaches the redirect URI.
    enum ResponseMode: String, Sendable, CaseIterable {
        case query
        case fragment
        case formPost = "form_post"
    }

    let provider: Provider
    let clientID: String
    let redirectURI: String
    let wantsCode: Bool
    let wantsIDToken: Bool
    let responseMode: ResponseMode
    let scopes: [String]
    let state: String?
    let nonce: String?
    let challenge: CodeChallenge?
    /// The received parameters, which the page's form sends again.
    let parameters: [(name: String, value: String)]

    /// The parameters that are read; others are ignored.
    private static let names: Set = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
    ]

    /// Reads the parameters of a request, or of the form that sends them again.
    init(_ fields: FormFields, provider: Provider) throws(AuthorizationError) {
        if let name = fields.repeatedName { throw Self.invalid("\(name) comes more than once.") }
        self.provider = provider
        parameters = fields.fields.filter { Self.names.contains($0.name) }
        clientID = fields["client_id"] ?? ""
        guard 1...RegisteredClient.textMax ~= clientID.utf8.count else {
            throw AuthorizationError(word: "invalid_client", sentence: "client_id is missing or too long.")
        }
        redirectURI = fields["redirect_uri"] ?? ""
        guard RedirectURI.isAcceptable(redirectURI, provider: provider) else {
            throw Self.invalid("redirect_uri must be an https URL, or http of this machine, without a fragment.")
        }
        let types = (fields["response_type"] ?? "").split(separator: " ")
        guard !types.isEmpty, types.allSatisfy({ $0 == "code" || $0 == "id_token" }) else {
            throw AuthorizationError(
                word: "unsupported_response_type",
                sentence: "response_type must be code, id_token or both."
            )
        }
        wantsCode = types.contains("code")
        wantsIDToken = types.contains("id_token")
        scopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        state = fields["state"]
        nonce = fields["nonce"]
        guard nonce?.utf8.count ?? 0 <= SignInOrder.nonceMax else { throw Self.invalid("nonce is too long.") }
        let method = fields["code_challenge_method"]
        challenge = fields["code_challenge"].flatMap { CodeChallenge($0, method: method) }
        guard challenge != nil || fields["code_challenge"] == nil else {
            throw Self.invalid("code_challenge is none of RFC 7636 section 4.2.")
        }
        responseMode = try Self.responseMode(fields["response_mode"], provider, wantsIDToken, scopes)
    }

    /// The sign-in order of this request: how its code is bound, and which data the app gets.
    func order(_ person: Person) -> SignInOrder {
        var order = SignInOrder(clientID: clientID, nonce: nonce, person: person)
        order.redirectURI = redirectURI
        order.challenge = challenge
        order.tellsEmail = scopes.contains("email")
        order.tellsName = scopes.contains(provider == .apple ? "name" : "profile")
        order.wantsIDToken = wantsIDToken
        order.wantsAccessToken = false
        order.isHybrid = wantsCode && wantsIDToken
        return order
    }

    private static func responseMode(
        _ text: String?,
        _ provider: Provider,
        _ wantsIDToken: Bool,
        _ scopes: [String]
    ) throws(AuthorizationError) -> ResponseMode {
        let byDefault = wantsIDToken ? ResponseMode.fragment : .query
        guard let mode = text.map(ResponseMode.init(rawValue:)) ?? byDefault else {
            throw invalid("response_mode must be query, fragment or form_post.")
        }
        if provider == .apple, !scopes.isEmpty, mode != .formPost {
            throw invalid("response_mode must be form_post when name or email scope is requested.")
        }
        if provider == .apple, !scopes.allSatisfy({ ["name", "email", "openid"].contains($0) }) {
            throw AuthorizationError(word: "invalid_scope", sentence: "scope may hold name and email.")
        }
        if provider == .google, !scopes.contains("openid") {
            throw AuthorizationError(word: "invalid_scope", sentence: "scope must hold openid.")
        }
        if mode == .query, wantsIDToken { throw invalid("response_mode query is not for an id_token.") }
        return mode
    }

    private static func invalid(_ sentence: String) -> AuthorizationError {
        AuthorizationError(word: "invalid_request", sentence: sentence)
    }
}
