import JOSE
import Models

/// Seals requests for the way through pages and the provider, so that nothing is stored of a sign-in that may never end. The first key
/// seals, all of them open. Immutable; any thread.
public struct AuthorizationRequestKeys: Sendable {
    /// The longest text of a request, in bytes: it must fit into a cookie.
    public static let textBytesMax = 3_072
    /// For how long a request may be answered, in seconds.
    public static let lifetimeSeconds: Int64 = 900
    /// For how long a pushed request may be used, in seconds (RFC 9126 section 2.2).
    public static let pushedSeconds: Int64 = 90
    /// What the `request_uri` of a pushed request begins with (RFC 9126 section 2.2).
    public static let requestURIPrefix = "urn:ietf:params:oauth:request_uri:"

    private static let prefix = "var1_"
    private static let label = "vestibule authorization request 1"
    private static let limits = JSONLimits(bytesMax: 4_096)

    private let keys: [[UInt8]]

    /// What a text is for: one kind is never taken for the other.
    public enum Use: String, Sendable, Hashable {
        /// A request that a page or the provider answers.
        case page
        /// A pushed request, which the client names at the authorization endpoint.
        case pushed
    }

    /// The keys that refresh keys give.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived(Self.label) }

    /// The text of a request; nil if it would be longer than ``textBytesMax``.
    public func seal(_ request: AuthorizationRequest, for use: Use) -> String? {
        let sealed = Seal.seal(
            request.content,
            secret: keys[0],
            label: Self.label,
            associatedData: Array(use.rawValue.utf8)
        )
        let text = Self.prefix + Base64URL.encode(sealed)
        return text.utf8.count <= Self.textBytesMax ? text : nil
    }

    /// The request of a text that we sealed for this use and that may still be answered; nil for anything else.
    public func open(_ text: String, for use: Use, nowMilliseconds: Int64) -> AuthorizationRequest? {
        guard text.utf8.count <= Self.textBytesMax, text.hasPrefix(Self.prefix),
            let sealed = Base64URL.decode(text.dropFirst(Self.prefix.utf8.count))
        else { return nil }
        for key in keys {
            let content = Seal.open(
                sealed,
                secret: key,
                label: Self.label,
                associatedData: Array(use.rawValue.utf8)
            )
            guard let content else { continue }
            let lifetime = use == .pushed ? Self.pushedSeconds : Self.lifetimeSeconds
            guard let object = try? JSONObject(parsing: content, limits: Self.limits),
                let request = AuthorizationRequest(object),
                nowMilliseconds < request.madeAtMilliseconds + lifetime * 1000
            else { return nil }
            return request
        }
        return nil
    }
}

extension AuthorizationRequest {
    fileprivate var content: [UInt8] {
        var object: JSONObject = [
            "client_id": .string(clientID), "redirect_uri": .string(redirectURI),
            "response_mode": .string(responseMode.rawValue), "scope": .string(scopes.text),
            "made_at": .integer(madeAtMilliseconds),
        ]
        object["state"] = state.map { .string($0) }
        object["nonce"] = nonce.map { .string($0) }
        object["code_challenge"] = codeChallenge.map { .string($0) }
        object["prompt"] = prompt.map { .string($0.rawValue) }
        object["max_age"] = maxAgeSeconds.map { .integer($0) }
        if !contexts.isEmpty { object["acr_values"] = .array(contexts.map { .string($0.rawValue) }) }
        object["idp"] = provider.map { .string($0) }
        object["ui_locales"] = languages.map { .string($0) }
        object["login_hint"] = loginHint.map { .string($0) }
        object["resource"] = resource.map { .string($0) }
        object["dpop_jkt"] = key.map { .string($0.text) }
        object["sub"] = hintedUserID.map { .string($0.description) }
        return object.serialized()
    }

    fileprivate init?(_ object: JSONObject) {
        guard let clientID = object["client_id"]?.string, let redirectURI = object["redirect_uri"]?.string,
            let responseMode = object["response_mode"]?.string.flatMap(ResponseMode.init),
            let scope = object["scope"]?.string, let madeAt = object["made_at"]?.integer
        else { return nil }
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.responseMode = responseMode
        scopes = OAuthScope.read(scope)
        madeAtMilliseconds = madeAt
        state = object["state"]?.string
        nonce = object["nonce"]?.string
        codeChallenge = object["code_challenge"]?.string
        prompt = object["prompt"]?.string.flatMap(Prompt.init)
        maxAgeSeconds = object["max_age"]?.integer
        contexts = (object["acr_values"]?.array ?? []).compactMap { $0.string.flatMap(AuthenticationContext.init) }
        provider = object["idp"]?.string
        languages = object["ui_locales"]?.string
        loginHint = object["login_hint"]?.string
        resource = object["resource"]?.string
        key = object["dpop_jkt"]?.string.flatMap { JWKThumbprint($0) }
        hintedUserID = object["sub"]?.string.flatMap { UserID($0) }
    }
}
