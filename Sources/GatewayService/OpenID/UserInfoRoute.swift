import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `GET` and `POST /oauth2/userinfo`: what a client may know of the user (OpenID Connect Core section 5.3).
enum UserInfoRoute {
    static let path = "/oauth2/userinfo"
    private static let summary = "What a client may know of the user"

    static let getOperation = OpenAPI.Operation(
        .get,
        path,
        id: "getUserInfo",
        tag: .profile,
        summary: summary,
        description: "OpenID Connect Core section 5.3. 403 with insufficient_scope for a token without openid.",
        caller: .user,
        answers: [200: .shared("The claims of the scopes that were granted.", .userInfo)],
        problems: [.forbidden]
    )

    static let postOperation = OpenAPI.Operation(
        .post,
        path,
        id: "getUserInfoByForm",
        tag: .profile,
        summary: summary,
        description: "As GET. The token may be in a form instead of the header (RFC 6750 section 2.2).",
        caller: .userOrAnyone,
        body: OpenAPI.RequestBody(
            schema: .userInfoForm,
            isRequired: false,
            types: ["application/x-www-form-urlencoded"]
        ),
        answers: [200: .shared("The claims of the scopes that were granted.", .userInfo)],
        problems: [.forbidden]
    )

    static func endpoints(_ parts: OpenIDParts) -> [Endpoint] {
        [getOperation, postOperation].map { operation in
            Endpoint(operation) { request, context in try await answer(parts, request, context) }
        }
    }

    /// The claims that the request's token grants.
    static func answer(_ parts: OpenIDParts, _ request: Request, _ context: RouteContext) async throws -> Response {
        let token = try await formToken(request, context)
        let granted = try await parts.authentication.granted(token, .route(request, context))
        guard granted.scopes.contains("openid") else { throw insufficientScope }
        return .json(try await claims(granted, parts), headers: [.cacheControl: "no-store"])
    }

    /// The token of a form; nil for that of the header. They must not both have one (RFC 6750 section 2).
    private static func formToken(_ request: Request, _ context: RouteContext) async throws -> String? {
        guard request.method == .post, request.headers.contains(.contentType) else { return nil }
        let form = try await context.form(request)
        guard let token = form["access_token"] else { return nil }
        guard try Authentication.credentials(request.headers) == nil, form.repeatedName == nil else {
            throw Problem(
                .badRequest,
                code: "REQUEST_INVALID",
                detail: "The request must have one access token.",
                headers: [.wwwAuthenticate: Authentication.challenge + #", error="invalid_request""#]
            )
        }
        return try Authentication.token(ofForm: token)
    }

    /// The claims of the granted scopes (section 5.4). Only what is known is there, and verified only what is proven.
    private static func claims(_ granted: Authentication.Granted, _ parts: OpenIDParts) async throws -> JSONObject {
        let people = People(identity: parts.methods.identity, profile: parts.methods.profile)
        let options = granted.user.caller.callOptions()
        var claims: JSONObject = ["sub": .string(granted.userID)]
        let proofs = granted.user.proofs
        let needsProfile = !granted.scopes.isDisjoint(with: ["profile", "phone"])
        let needsAccount = granted.scopes.contains("email")
        // Both at once.
        async let foundProfile = needsProfile ? people.profile(proofs, options) : nil
        async let foundAccount = needsAccount ? people.account(proofs, options) : nil
        if let profile = try await foundProfile {
            if granted.scopes.contains("profile") {
                claims.add("name", profile.displayName)
                claims.add("preferred_username", profile.username)
                claims.add("picture", parts.methods.avatars.url(of: profile.avatar))
            }
            if granted.scopes.contains("phone"), !profile.phoneNumber.isEmpty {
                claims.add("phone_number", profile.phoneNumber)
                claims["phone_number_verified"] = .bool(profile.phoneProven)
            }
        }
        // Until the user has chosen a name, the one that the provider gave, as in the ID token.
        let lacksName = granted.scopes.contains("profile") && claims["name"] == nil
        var account = try await foundAccount
        if lacksName, account == nil { account = try await people.account(proofs, options) }
        if let account {
            if lacksName { claims.add("name", account.suggestedDisplayName) }
            if needsAccount, let identity = account.emailIdentity {
                claims.add("email", identity.email)
                claims["email_verified"] = .bool(identity.emailVerified)
            }
        }
        return claims
    }

    private static let insufficientScope = Problem(
        .forbidden,
        code: "PERMISSION_DENIED",
        detail: "The access token was granted without the scope openid.",
        headers: [.wwwAuthenticate: Authentication.challenge + #", error="insufficient_scope", scope="openid""#]
    )
}

extension JSONObject {
    /// Adds a text that is known.
    fileprivate mutating func add(_ name: String, _ text: String) {
        if !text.isEmpty { self[name] = .string(text) }
    }
}

extension IdentityV1.Account {
    /// The provider identity whose e-mail address a client gets: one whose provider has verified it, else any with one; of several the
    /// one that signed in last.
    var emailIdentity: IdentityV1.ProviderIdentity? {
        identities.filter { !$0.email.isEmpty }.max { one, other in
            (one.emailVerified ? 1 : 0, one.lastSignInAtMs) < (other.emailVerified ? 1 : 0, other.lastSignInAtMs)
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let userInfo = object([
        .required("sub", .uuid),
        .optional("name", .text(minLength: 1)),
        .optional("preferred_username", .text(minLength: 1)),
        .optional("picture", .text("A URL.", minLength: 1)),
        .optional("email", .text(minLength: 1)),
        .optional("email_verified", .boolean("Whether the user's provider says that it verified the address.")),
        .optional("phone_number", .text("E.164.", minLength: 1)),
        .optional("phone_number_verified", .boolean("Whether it is proven, which it is not by typing it.")),
    ]).named("UserInfo")

    fileprivate static let userInfoForm = object([
        .optional("access_token", .text("Where there is no Authorization field.", minLength: 1, maxLength: 8192))
    ]).named("UserInfoForm")
}
