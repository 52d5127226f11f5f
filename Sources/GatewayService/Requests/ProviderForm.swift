import API
import HTTPJSON
import HTTPTypes
import JOSE

/// What a provider has a browser post to us at the end of its page (OAuth 2.0 Form Post Response Mode).
struct ProviderForm: Sendable {
    private let fields: FormFields

    /// The form of a request.
    ///
    /// - Throws: `Problem` for what is no form, and for one with a field twice.
    init(_ request: Request, _ context: RouteContext) async throws {
        fields = try await context.form(request)
        guard fields.repeatedName == nil else {
            throw Problem(.badRequest, code: "FORM_MALFORMED", detail: "The form has a field twice.")
        }
    }

    /// The state; empty if none came.
    var state: String { fields["state"] ?? "" }

    /// Why there is no sign-in, mostly since the user closed the provider's page: a word of ours; nil without an error.
    var error: String? {
        guard let word = fields["error"], !word.isEmpty else { return nil }
        return Self.errorWords.contains(word) ? word : "server_error"
    }

    /// Whether the user went back.
    var isCancelled: Bool { error == "access_denied" || error == "user_cancelled_authorize" }

    /// Whether the form is of the sign-in that the browser of a cookie began.
    func isOf(browserState: String) -> Bool { ConstantTime.areEqual(state, browserState) }

    /// What identity is asked to verify.
    ///
    /// - Parameters:
    ///   - browserState: the state of the browser's cookie; empty if it has none.
    ///   - redirectURI: where the provider posted to.
    ///   - clientsWithoutState: the audiences that may come without state.
    func finishRequest(
        provider: String,
        browserState: String,
        redirectURI: String,
        clientsWithoutState: [String] = []
    ) -> IdentityV1.FinishWebSignInRequest {
        let user = AppleUser(fields["user"] ?? "")
        var call = IdentityV1.FinishWebSignInRequest()
        call.provider = provider
        call.idToken = fields["id_token"] ?? ""
        call.authorizationCode = fields["code"] ?? ""
        call.fullName = user.name
        call.email = user.email
        call.state = state
        call.browserState = browserState
        call.clientsWithoutState = clientsWithoutState
        call.redirectUri = redirectURI
        return call
    }

    static let foreignState = Problem(
        .badRequest,
        code: "WEB_STATE_INVALID",
        detail: "This browser did not begin this sign-in."
    )

    /// The errors of RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6, and Apple's own.
    private static let errorWords: Set<String> = [
        "access_denied", "account_selection_required", "consent_required", "interaction_required",
        "invalid_request", "invalid_scope", "login_required", "server_error", "temporarily_unavailable",
        "unauthorized_client", "unsupported_response_type", "user_cancelled_authorize",
    ]
}

/// Apple's `user` field, sent the first time: `{"name": {"firstName", "lastName"}, "email"}`. It comes through the browser,
/// unsigned, so it may hold anything; parts that can't be read are left out and never a reason to reject.
struct AppleUser: Sendable, Hashable {
    /// The largest JSON that is read, in bytes.
    static let bytesMax = 4096

    /// First and last name; empty if absent.
    let name: String
    /// The e-mail; empty if absent.
    let email: String

    init(_ text: String) {
        let user = try? JSONObject(parsing: Array(text.utf8), limits: JSONLimits(bytesMax: Self.bytesMax))
        let names = user?["name"]?.object
        name = ["firstName", "lastName"].compactMap { names?[$0]?.string }.filter { !$0.isEmpty }
            .joined(separator: " ")
        email = user?["email"]?.string ?? ""
    }
}
