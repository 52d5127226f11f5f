import HTTPJSON
import JOSE

/// A sign-in of a user to a client, with the differences of the tokens from the real provider's.
struct SignInOrder: Sendable {
    /// The requesting SDK, where that makes a difference.
    enum SDK: String, Sendable, CaseIterable {
        /// No SDK-specific behaviour.
        case plain
        /// Google's for iOS: it puts its own nonce, which the app never sees, into the token.
        case ios
    }

    var clientID: String
    var nonce: String?
    var person: Person
    /// Apple's transfer identifier of the person between the app's previous and current team; nil if the app wasn't moved.
    var transferSubject: String?
    var overrides = TokenOverrides()
    /// How the ID token that is issued for the code differs.
    var exchangeOverrides = TokenOverrides()
    var sdk = SDK.plain
    /// The URL to which the browser is redirected; nil in an app.
    var redirectURI: String?
    var challenge: CodeChallenge?
    var tellsEmail = true
    var tellsName = true
    /// Whether an ID token is issued at once, together with the code.
    var wantsIDToken = true
    /// Whether the ID token and the code come in one response of the authorization endpoint, so that the token has the code's hash;
    /// Apple's always does.
    var isHybrid = false
    /// Whether an access token is issued at once.
    var wantsAccessToken = true
    /// The access token's lifetime in seconds; may be negative. Nil for the provider's default.
    var accessTokenExpiresInSeconds: Int64?

    init(clientID: String, nonce: String?, person: Person) {
        self.clientID = clientID
        self.nonce = nonce
        self.person = person
    }

    /// Reads the request of a sign-in by control.
    init(_ input: inout JSONInput, provider: Provider) {
        clientID = input.string("client_id")
        nonce = input.optionalString("nonce")
        Self.checkLength(clientID, "client_id", RegisteredClient.textMax, &input)
        Self.checkLength(nonce ?? "", "nonce", Self.nonceMax, &input)
        var personInput = input.object("person")
        person = Person(&personInput, provider: provider)
        input.adopt(personInput)
        overrides = Self.overrides("overrides", &input)
        exchangeOverrides = Self.overrides("exchange_overrides", &input)
        let sdkName = input.optionalString("sdk") ?? SDK.plain.rawValue
        sdk = SDK(rawValue: sdkName) ?? .plain
        if SDK(rawValue: sdkName) == nil || sdk == .ios && provider != .google {
            input.addError("sdk", code: "INVALID", detail: "Only ios, and only Google's, differs.")
        }
        if sdk == .ios, nonce != nil {
            input.addError("nonce", code: "INVALID", detail: "This SDK makes its own nonce.")
        }
        redirectURI = input.optionalString("redirect_uri")
        Self.checkLength(redirectURI ?? "", "redirect_uri", RedirectURI.lengthMax, &input)
        if let text = input.optionalString("code_challenge") {
            challenge = CodeChallenge(text, method: input.optionalString("code_challenge_method"))
            if challenge == nil { input.addError("code_challenge", code: "INVALID", detail: "RFC 7636 section 4.2.") }
        }
        accessTokenExpiresInSeconds = input.optionalInteger(
            "access_token_expires_in",
            in: -TokenOverrides.secondsMax...TokenOverrides.secondsMax
        )
    }

    /// The longest nonce, in bytes.
    static let nonceMax = 1024

    private static func overrides(_ name: String, _ input: inout JSONInput) -> TokenOverrides {
        var nested = input.nested(name)
        let overrides = TokenOverrides(&nested)
        input.adopt(nested)
        return overrides
    }

    private static func checkLength(_ text: String, _ name: String, _ max: Int, _ input: inout JSONInput) {
        if text.utf8.count > max { input.addError(name, code: "INVALID", detail: "At most \(max) bytes.") }
    }
}

/// Binds a code to the client that requested it (RFC 7636).
struct CodeChallenge: Sendable, Hashable {
    private let text: String
    private let isHashed: Bool

    /// A challenge from a request; nil if it is malformed, or of an unknown method.
    init?(_ text: String, method: String?) {
        guard 43...128 ~= text.utf8.count else { return nil }
        switch method ?? "plain" {
        case "S256": isHashed = true
        case "plain": isHashed = false
        default: return nil
        }
        self.text = text
    }

    /// Returns whether this verifier matches the challenge.
    func isProven(by verifier: String?) -> Bool {
        guard let verifier else { return false }
        return ConstantTime.areEqual(isHashed ? Base64URL.encode(SHA256.hash(verifier)) : verifier, text)
    }
}
