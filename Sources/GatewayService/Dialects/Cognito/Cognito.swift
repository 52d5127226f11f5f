import HTTPJSON
import HTTPTypes
import WebPages

/// The hosted pages of Amazon Cognito, for apps that open them: `/login` and `/logout`, the parameters and the spelling that its clients
/// use below `/oauth2`, and the path to which providers post. They lead to our own endpoints and pages, by the same rules.
enum Cognito {
    static let loginPath = "/login"
    static let logoutPath = "/logout"
    static let providerResponsePath = "/oauth2/idpresponse"
    static let userInfoPath = "/oauth2/userInfo"

    private static let found: [Int: OpenAPI.Answer] = [303: .init("To the endpoint that does it.")]

    /// Whether a path is one of the hosted pages.
    static func speaks(_ path: String) -> Bool { [loginPath, logoutPath, providerResponsePath].contains(path) }

    static func endpoints(_ parts: OpenIDParts) -> [Endpoint] {
        [
            Endpoint(login, isForOtherOrigins: false) { request, _ in
                redirect(to: AuthorizeRoute.path, translated(try FormFields(queryOf: request).fields))
            },
            Endpoint(logout, isForOtherOrigins: false) { request, _ in
                signOut(try FormFields(queryOf: request).fields)
            },
            Endpoint(providerResponse, isForOtherOrigins: false) { request, context in
                try await FinishSignInRoute.finish(at: nil, parts, request, context)
            },
            Endpoint(userInfo) { request, context in try await UserInfoRoute.answer(parts, request, context) },
        ]
    }

    /// The parameters of an authorization request in our words: `identity_provider` names the provider as Cognito does.
    static func translated(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        fields.compactMap { field in
            guard field.name == "identity_provider" else { return field }
            switch field.value {
            // Its own accounts with a password; here the user chooses a provider.
            case "COGNITO": return nil
            case "SignInWithApple": return ("idp", "apple")
            default: return ("idp", field.value.lowercased())
            }
        }
    }

    /// Signs out, and goes to `logout_uri`; or with `redirect_uri` has the user sign in again.
    private static func signOut(_ fields: [(name: String, value: String)]) -> Response {
        guard
            fields.contains(where: { $0.name == "logout_uri" })
                || !fields.contains(where: { $0.name == "redirect_uri" })
        else { return redirect(to: AuthorizeRoute.path, translated(fields) + [("prompt", "login")]) }
        return redirect(
            to: EndBrowserSessionRoute.path,
            fields.map { field in field.name == "logout_uri" ? ("post_logout_redirect_uri", field.value) : field }
        )
    }

    private static func redirect(to path: String, _ fields: [(name: String, value: String)]) -> Response {
        Response(status: .seeOther, headers: [.location: ClientRedirect.address(path, adding: fields)])
    }

    private static let login = OpenAPI.Operation(
        .get,
        loginPath,
        id: "cognitoLogin",
        tag: .auth,
        summary: "Cognito's sign-in page",
        description: "As GET /oauth2/authorize, with identity_provider in the place of idp.",
        caller: .anyone,
        answers: found,
        answersPages: true
    )

    private static let logout = OpenAPI.Operation(
        .get,
        logoutPath,
        id: "cognitoLogout",
        tag: .auth,
        summary: "Cognito's sign-out page",
        description: "As GET /oauth2/logout, with logout_uri in the place of post_logout_redirect_uri.",
        caller: .anyone,
        answers: found,
        answersPages: true
    )

    private static let providerResponse = OpenAPI.Operation(
        .post,
        providerResponsePath,
        id: "cognitoProviderResponse",
        tag: .auth,
        summary: "Takes what a provider posts, at the path that Cognito has for it",
        description: "The provider's form_post. The state must be that of the browser's cookie.",
        caller: .anyone,
        body: FinishSignInRoute.operation.body,
        answers: FinishSignInRoute.operation.answers,
        answersPages: true
    )

    private static let userInfo = OpenAPI.Operation(
        .get,
        userInfoPath,
        id: "cognitoUserInfo",
        tag: .profile,
        summary: "What a client may know of the user, at Cognito's spelling of the path",
        description: "As GET /oauth2/userinfo.",
        caller: .user,
        answers: UserInfoRoute.getOperation.answers,
        problems: [.forbidden]
    )
}
