import JOSE
import Models

/// A request of the authorization endpoint that was checked (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
public struct AuthorizationRequest: Sendable, Hashable {
    /// How an answer reaches the client.
    public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
        /// In the query of the redirect URI.
        case query
        /// By a form that the browser posts (OAuth 2.0 Form Post Response Mode).
        case formPost = "form_post"
    }

    /// Whether the user may be asked something.
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// No page may be shown.
        case none
        /// The user signs in again.
        case login
        /// The user chooses a provider, and so an account, again.
        case selectAccount = "select_account"
    }

    /// The client.
    public let clientID: String
    /// Where the answer goes, as the request names it.
    public let redirectURI: String
    /// How it gets there.
    public let responseMode: ResponseMode
    /// Comes back with the answer; nil if the client sent none.
    public let state: String?
    /// Comes back in the ID token.
    public let nonce: String?
    /// The PKCE challenge, S256.
    public let codeChallenge: String?
    /// What is granted: what the client asks for and its entry allows.
    public let scopes: Set<OAuthScope>
    /// What the user may be asked.
    public let prompt: Prompt?
    /// The greatest age of the sign-in, in seconds.
    public let maxAgeSeconds: Int64?
    /// How the sign-in should be proven, any of these; empty for any way (`acr_values`, OpenID Connect Core section 3.1.2.1, RFC 9470
    /// section 4). Values that no sign-in can be asked for are ignored.
    public var contexts: [AuthenticationContext]
    /// The provider to begin with, as the client names it; an unknown one is ignored.
    public let provider: String?
    /// The languages of the page, the preferred first (OpenID Connect Core section 3.1.2.1).
    public let languages: String?
    /// The user's name at the provider, as the client knows it: a hint for the provider's page.
    public let loginHint: String?
    /// The API for which the access token is, if not ours (RFC 8707).
    public let resource: String?
    /// The key that the code, and the tokens for it, are bound to (`dpop_jkt`, RFC 9449 section 10); nil for none.
    public var key: JWKThumbprint?
    /// The user whom the client expects, by an ID token of theirs (OpenID Connect Core section 3.1.2.1, `id_token_hint`).
    public var hintedUserID: UserID?
    /// When the request was made, in Unix milliseconds: a sign-in that it demands must be newer.
    public let madeAtMilliseconds: Int64

    /// Whether the user has to sign in at the provider again.
    public var demandsNewSignIn: Bool { prompt == .login || maxAgeSeconds == 0 }

    /// Whether a sign-in at this time, proven so, answers the request without another one.
    ///
    /// A sign-in for this request does, however it was proven: `acr_values` is a wish, and `acr` says what came of it.
    public func admits(
        signInAtMilliseconds: Int64,
        context: AuthenticationContext,
        nowMilliseconds: Int64
    ) -> Bool {
        if signInAtMilliseconds >= madeAtMilliseconds { return true }
        if demandsNewSignIn || prompt == .selectAccount { return false }
        guard contexts.isEmpty || contexts.contains(where: context.satisfies) else { return false }
        return maxAgeSeconds.map { nowMilliseconds - signInAtMilliseconds <= $0 * 1000 } ?? true
    }
}

extension AuthorizationRequest {
    /// Where an answer goes.
    public struct Target: Sendable, Hashable {
        /// The redirect URI, which is one of the client's.
        public let redirectURI: String
        /// How the answer gets there.
        public let responseMode: ResponseMode
        /// The `state` of the request.
        public let state: String?
    }

    /// Where the answer to this request goes.
    public var target: Target { Target(redirectURI: redirectURI, responseMode: responseMode, state: state) }

    /// Why a request isn't accepted.
    public enum Rejection: Error, Sendable, Hashable {
        /// Told to the user, on a page: nothing shows that the redirect URI is the client's.
        case page(OAuthFailure)
        /// Told to the client, at its redirect URI.
        case client(OAuthFailure, Target)
    }

    /// The longest `state`, in bytes.
    public static let stateBytesMax = 1_024
    /// The longest `nonce`, in bytes.
    public static let nonceBytesMax = 256
    /// The longest other parameter that is looked at, in bytes.
    public static let parameterBytesMax = 512
    /// The most parameters of a request.
    public static let parametersMax = 64
    /// The greatest `max_age`, in seconds: a year.
    public static let maxAgeSecondsMax: Int64 = 31_536_000

    /// Checks a request. Parameters without a value count as omitted, and unknown ones are ignored (RFC 6749 section 3.1).
    ///
    /// - Parameters:
    ///   - parameters: of the query or the form, in their order.
    ///   - clients: by their ids.
    public init(
        _ parameters: [(name: String, value: String)],
        clients: [String: OAuthClient],
        nowMilliseconds: Int64
    ) throws(Rejection) {
        guard parameters.count <= Self.parametersMax else {
            throw .page(OAuthFailure(.invalidRequest, "There are too many parameters."))
        }
        let fields = Fields(parameters)
        let (client, redirectURI) = try Self.recipient(fields, clients)
        // RFC 6749 section 4.1.2.1: from here on the client gets the errors.
        let responseMode = fields["response_mode"].map { ResponseMode(rawValue: $0) } ?? .query
        let state = fields["state"]
        let hasShortState = state.map { $0.utf8.count <= Self.stateBytesMax } ?? true
        let target = Target(
            redirectURI: redirectURI,
            responseMode: responseMode ?? .query,
            state: hasShortState ? state : nil
        )
        func reject(_ word: OAuthFailure.Word, _ description: String) -> Rejection {
            .client(OAuthFailure(word, description), target)
        }
        if let name = fields.repeated { throw reject(.invalidRequest, "The parameter \(name) is repeated.") }
        guard hasShortState else { throw reject(.invalidRequest, "The state is too long.") }
        guard let responseMode else { throw reject(.invalidRequest, "The response_mode is not supported.") }
        if fields["request"] != nil { throw reject(.requestNotSupported, "Request objects are not supported.") }
        if fields["request_uri"] != nil {
            throw reject(.requestURINotSupported, "Only a request_uri of the PAR endpoint is accepted.")
        }
        if fields["registration"] != nil { throw reject(.registrationNotSupported, "Clients are configured.") }
        guard fields["response_type"] == "code" else {
            throw fields["response_type"] == nil
                ? reject(.invalidRequest, "The response_type is missing.")
                : reject(.unsupportedResponseType, "Only the response_type code is supported.")
        }
        let scopes = OAuthScope.read(fields["scope"] ?? "").intersection(client.scopes)
        guard !scopes.isEmpty else { throw reject(.invalidScope, "The client may not have any of these scopes.") }
        let nonce = fields["nonce"]
        guard nonce.map({ $0.utf8.count <= Self.nonceBytesMax }) ?? true else {
            throw reject(.invalidRequest, "The nonce is too long.")
        }
        // PostgreSQL stores no text with it.
        if let nonce, nonce.utf8.contains(0) { throw reject(.invalidRequest, "The nonce has a NUL character.") }
        let codeChallenge = fields["code_challenge"]
        do {
            try Self.check(codeChallenge, method: fields["code_challenge_method"], nonce: nonce, of: client)
        } catch {
            throw .client(error, target)
        }
        let prompt: Prompt?
        do {
            prompt = try Self.prompt(fields["prompt"])
        } catch {
            throw .client(error, target)
        }
        let resource = fields["resource"]
        if let resource, !client.resources.contains(resource) {
            throw reject(.invalidTarget, "The resource is none of the client's.")
        }
        let key = fields["dpop_jkt"].map { JWKThumbprint($0) }
        if let key, key == nil { throw reject(.invalidRequest, "The dpop_jkt is no SHA-256 thumbprint in base64url.") }
        let maxAge = fields["max_age"].map { Int64($0) }
        if let maxAge, maxAge.map({ $0 < 0 }) ?? true {
            throw reject(.invalidRequest, "The max_age is no number of seconds.")
        }
        clientID = client.id
        self.redirectURI = redirectURI
        self.responseMode = responseMode
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
        self.scopes = scopes
        self.prompt = prompt
        maxAgeSeconds = maxAge.flatMap { $0 }.map { min($0, Self.maxAgeSecondsMax) }
        contexts = (fields.short("acr_values") ?? "").split(separator: " ")
            .compactMap { AuthenticationContext(rawValue: String($0)) }.filter(AccountAct.acceptedContexts.contains)
        provider = fields.short("idp")
        languages = fields.short("ui_locales")
        loginHint = fields.short("login_hint")
        self.resource = resource
        self.key = key ?? nil
        madeAtMilliseconds = nowMilliseconds
    }

    /// The client, and the redirect URI, which must be one of its own. A repeated one is neither.
    private static func recipient(
        _ fields: Fields,
        _ clients: [String: OAuthClient]
    ) throws(Rejection) -> (OAuthClient, String) {
        guard let id = fields.single("client_id"), let client = clients[id] else {
            throw .page(OAuthFailure(.invalidClient, "No client has this client_id.", reason: .clientUnknown))
        }
        if client.isDisabled {
            throw .page(OAuthFailure(.unauthorizedClient, "The client is switched off.", reason: .clientDisabled))
        }
        guard let redirectURI = fields.single("redirect_uri") else {
            let text = "The redirect_uri is missing, or there are several."
            throw .page(OAuthFailure(.invalidRequest, text, reason: .redirectInvalid))
        }
        guard client.redirectURIs.contains(where: { $0.admits(redirectURI) }) else {
            let text = "The redirect_uri is none of the client's."
            throw .page(OAuthFailure(.invalidRequest, text, reason: .redirectInvalid))
        }
        return (client, redirectURI)
    }

    /// PKCE by S256 alone (RFC 9700 section 2.1.1).
    private static func check(
        _ codeChallenge: String?,
        method: String?,
        nonce: String?,
        of client: OAuthClient
    ) throws(OAuthFailure) {
        guard let codeChallenge else {
            if method != nil { throw OAuthFailure(.invalidRequest, "The code_challenge is missing.") }
            if client.requiresPKCE { throw OAuthFailure(.invalidRequest, "A code_challenge is required (PKCE).") }
            if nonce == nil { throw OAuthFailure(.invalidRequest, "A code_challenge or a nonce is required.") }
            return
        }
        guard method == "S256" else { throw OAuthFailure(.invalidRequest, "The code_challenge_method must be S256.") }
        guard CodeChallenge.isAcceptable(codeChallenge) else {
            throw OAuthFailure(.invalidRequest, "The code_challenge is no SHA-256 hash in base64url.")
        }
    }

    /// `consent` asks for nothing, since there is no consent to give; of several prompts the strictest counts.
    private static func prompt(_ text: String?) throws(OAuthFailure) -> Prompt? {
        let words = (text ?? "").split(separator: " ").map(String.init)
        guard words.allSatisfy({ $0 == "consent" || Prompt(rawValue: $0) != nil }) else {
            throw OAuthFailure(.invalidRequest, "The prompt is not supported.")
        }
        if words.contains("none"), words.count > 1 {
            throw OAuthFailure(.invalidRequest, "The prompt none excludes all others.")
        }
        return words.compactMap { Prompt(rawValue: $0) }.sorted { one, _ in one == .login }.first
    }
}

/// Parameters by name. Those without a value are left out.
private struct Fields {
    private let values: [String: String]
    private let counts: [String: Int]

    init(_ parameters: [(name: String, value: String)]) {
        let given = parameters.filter { !$0.value.isEmpty }
        values = Dictionary(given.map { ($0.name, $0.value) }) { first, _ in first }
        counts = Dictionary(parameters.map { ($0.name, 1) }, uniquingKeysWith: +)
    }

    /// A parameter that we know and that stands there more than once, which RFC 6749 section 3.1 forbids.
    var repeated: String? { Self.names.first { (counts[$0] ?? 0) > 1 } }

    subscript(_ name: String) -> String? { values[name] }

    func single(_ name: String) -> String? { counts[name] == 1 ? values[name] : nil }

    /// A hint, which is ignored if it is too long.
    func short(_ name: String) -> String? {
        values[name].flatMap { $0.utf8.count <= AuthorizationRequest.parameterBytesMax ? $0 : nil }
    }

    private static let names = [
        "response_type", "response_mode", "scope", "state", "nonce", "code_challenge", "code_challenge_method",
        "prompt", "max_age", "acr_values",
        "idp", "ui_locales", "login_hint", "resource", "dpop_jkt", "request", "request_uri",
    ]
}
