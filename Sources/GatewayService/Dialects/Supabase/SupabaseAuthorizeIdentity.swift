import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /auth/v1/user/identities/authorize` (`linkIdentity` without a token): the provider's page, by which an identity is linked to the
/// account of the bearer token.
///
/// The browser comes back to ``SupabaseCallback`` and goes on to the app with a code, which `grant_type=pkce` redeems. The code belongs to
/// the session that began it and to the verifier of its challenge: who is made to visit another's page at a provider links nothing, since
/// their app has another verifier.
enum SupabaseAuthorizeIdentity {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/v1/user/identities/authorize",
        id: "supabaseAuthorizeIdentity",
        tag: .auth,
        summary: "The provider's page, by which an identity is linked to the account",
        description: """
            PKCE is required: code_challenge_method is s256. redirect_to must be one of the app URLs that are configured; the first one if \
            absent. With skip_http_redirect the answer is the page's URL, else a redirect to it.
            """,
        caller: .user,
        parameters: [.supabaseProvider, .supabaseRedirect, .supabaseChallenge, .supabaseSkips],
        answers: [
            200: .init("The page.", .object([.required("url", .text(minLength: 1))]).named("SupabaseProviderPage")),
            302: .init("To the page."),
        ],
        problems: [.forbidden, .notFound, .fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts, _ webSignIn: WebSignIn) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await parts.authentication.user(request, context, in: .supabase)
            let query = request.uri.queryParameters
            var faults: [Problem.Field] = []
            let challenge = query.get("code_challenge") ?? ""
            // As its clients write it.
            guard query.get("code_challenge_method")?.lowercased() ?? "s256" == "s256", challenge.utf8.count == 43
            else {
                faults.append(.init("code_challenge", code: "REQUIRED", detail: "The flow pkce is needed, with s256."))
                throw refused(faults)
            }
            guard let url = webSignIn.appURL(query.get("redirect_to")) else {
                faults.append(.init("redirect_to", code: "NOT_ALLOWED", detail: "This is none of the app's URLs."))
                throw refused(faults)
            }
            var call = IdentityV1.BeginWebSignInRequest()
            call.provider = query.get("provider") ?? ""
            call.codeChallenge = challenge
            call.appURL = url.text
            call.redirectUri = SupabaseCallback.url(webSignIn)
            call.linkingAccessToken = try Authentication.requiredToken(request.headers)
            call.choosesAccount = true
            let options = parts.authentication.callOptionsWithAddress(user.caller)
            let page = try await parts.backends.identity.beginWebSignIn(call, options: options).authorizationURL
            if query.get("skip_http_redirect") == "true" { return .json(["url": .string(page)]) }
            return Response(status: .found, headers: [.location: page])
        }
    }

    private static func refused(_ faults: [Problem.Field]) -> Problem {
        Problem(
            .unprocessableContent,
            code: "REQUEST_INVALID",
            detail: "The request does not have the form that this path expects.",
            fields: faults
        )
    }
}

extension OpenAPI.Parameter {
    fileprivate static let supabaseProvider = Self(
        component: "supabaseProvider",
        name: "provider",
        place: .query,
        schema: .text(minLength: 1),
        description: "apple, google, …",
        isRequired: true
    )
    fileprivate static let supabaseRedirect = Self(
        component: "supabaseRedirect",
        name: "redirect_to",
        place: .query,
        schema: .text(maxLength: 512),
        description: "Where the browser is sent at the end."
    )
    fileprivate static let supabaseChallenge = Self(
        component: "supabaseChallenge",
        name: "code_challenge",
        place: .query,
        schema: .text(pattern: "^[A-Za-z0-9_-]{43}$"),
        description: "PKCE, s256 (RFC 7636 section 4.2).",
        isRequired: true
    )
    fileprivate static let supabaseSkips = Self(
        component: "supabaseSkips",
        name: "skip_http_redirect",
        place: .query,
        schema: .oneOf(["true", "false"]),
        description: "Whether the answer is the page's URL."
    )
}
