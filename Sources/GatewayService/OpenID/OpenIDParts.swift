import API
import HTTPJSON
import HTTPTypes
import RPC
import WebPages

/// What the OpenID endpoints and the pages that sign in answer with.
struct OpenIDParts: Sendable {
    let pages: SignInPages
    let oauth: OAuthServiceClient
    let methods: AppMethods
    let languages: PageLanguages

    var authentication: Authentication { methods.authentication }

    /// Every route but the metadata's.
    var endpoints: [Endpoint] {
        AuthorizeRoute.endpoints(self) + EndBrowserSessionRoute.endpoints(self) + UserInfoRoute.endpoints(self) + [
            BeginSignInRoute.endpoint(self),
            FinishSignInRoute.endpoint(self),
            IssueTokensRoute.endpoint(self),
            PushAuthorizationRoute.endpoint(self),
            RevokeTokenRoute.endpoint(self),
            SignInHelpRoute.endpoint(self),
        ]
    }

    /// The pages of signed-in users, and what the sign-in page's script calls.
    var pageRoutes: [Route] { AccountPages(parts: self).routes + PasskeySignIn.routes(self) }

    /// Whether a path is one of these routes'.
    static func hasRoute(at path: String) -> Bool {
        path.hasPrefix("/oauth2/") || path.hasPrefix(BeginSignInRoute.pathPrefix) || Cognito.speaks(path)
    }

    /// What calls are made with: the client's address goes along, since identity limits it over all replicas.
    func options(_ request: Request, _ context: RouteContext) -> CallOptions {
        authentication.callOptionsWithAddress(.route(request, context))
    }

    /// The response about a problem at one of these paths; nil at any other, whose errors have the usual shape.
    static func response(to request: Request, telling problem: Problem, _ languages: PageLanguages) -> Response? {
        let path = request.uri.path
        return switch path {
        case IssueTokensRoute.path, PushAuthorizationRoute.path, RevokeTokenRoute.path:
            ClientForm.response(telling: problem)
        case AuthorizeRoute.path, AuthorizeRoute.continuePath, SignInHelpRoute.path, EndBrowserSessionRoute.path,
            SignInRoute.path:
            Page.response(telling: problem, in: languages.text(for: request))
        default:
            path.hasPrefix(BeginSignInRoute.pathPrefix) || path.hasPrefix(AccountPages.prefix)
                ? Page.response(telling: problem, in: languages.text(for: request)) : nil
        }
    }
}

extension IdentityV1.OAuthParameter {
    /// The parameters of a form or a query, in their order.
    static func all(_ fields: [(name: String, value: String)]) -> [IdentityV1.OAuthParameter] {
        fields.map { field in
            var parameter = IdentityV1.OAuthParameter()
            (parameter.name, parameter.value) = (field.name, field.value)
            return parameter
        }
    }
}

extension FormFields {
    /// The fields of a request: of its query, or by POST of its form.
    ///
    /// - Throws: 400 for a malformed query, and as `form` does.
    init(_ request: Request, _ context: RouteContext) async throws {
        if request.method == .post {
            self = try await context.form(request)
        } else {
            self = try FormFields(queryOf: request)
        }
    }
}
