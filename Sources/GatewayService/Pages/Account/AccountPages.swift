import API
import HTTPJSON
import HTTPTypes
import Logging
import WebPages

/// The pages of a signed-in user. Each is another dress of methods that apps call (``AppMethods``): what is allowed, limited and recorded
/// there is so here. The browser's cookie stands for the user; a bearer token opens none of them.
struct AccountPages: Sendable {
    static let prefix = "/my/"
    /// The parameter of a page's address with the languages that the client asks for.
    static let languagesName = "ui_locales"
    /// What sessions and events call a passkey.
    static let passkeyProvider = "passkey"

    let parts: OpenIDParts

    /// All of them. They are in no description, since only browsers visit them.
    var routes: [Route] {
        [SignInRoute.route(self)] + AccountPage.routes(self) + [NewSignIns.route(self)] + ProvidersPart.routes(self)
            + LinkPage.routes(self) + PasskeysPart.routes(self) + AddPasskeyPage.routes(self)
            + ProfilePage.routes(self) + DeletionPage.routes(self) + DataRoute.routes(self) + GroupsPage.routes(self)
            + GroupPage.routes(self) + GroupActs.routes(self) + InvitationPage.routes(self)
    }

    /// A request of a browser that has signed in.
    struct Visit: Sendable {
        let session: PageSession
        /// The providers that a browser can sign in with, as the sign-in page has them.
        let signIn: IdentityV1.SignInPage
        let request: Request
        let context: RouteContext
        let parts: OpenIDParts

        var methods: AppMethods { parts.methods }
        var text: PageText { parts.languages.text(for: request, asked: languages) }
        /// The languages that the client asks for, as the page's address has them; empty without.
        var languages: String { request.uri.queryParameters[AccountPages.languagesName] ?? "" }

        /// The user, who has not asked for too much.
        ///
        /// - Parameter act: what they are about to do, if their sign-in must be recent and proven for that.
        func user(isChange: Bool = false, act: IdentityV1.CheckedAct = .unspecified) async throws -> SignedInUser {
            try await parts.authentication.user(session.caller, isChange: isChange, act: act)
        }

        /// The fields of the query.
        var query: FormFields { get throws { try FormFields(queryOf: request) } }
    }

    /// `GET` of a page.
    ///
    /// - Parameter signIn: where a browser without a live session goes; by default to sign in, and back.
    func page(
        _ path: String,
        signIn: (@Sendable (Request) throws -> String)? = nil,
        _ answer: @escaping @Sendable (Visit) async throws -> Response
    ) -> Route {
        Route(.get, path, isForOtherOrigins: false) { request, context in
            let goal = ReturnPath(request.uri.path) ?? .account
            guard let visit = try await visit(request, context) else {
                return AccountPages.seeOther(try signIn?(request) ?? SignInRoute.address(goal))
            }
            return try await Self.answer(visit, goal, back: .account) { try await answer(visit) }
        }
    }

    /// `POST` of a form.
    ///
    /// - Parameter goal: the page to which the user comes back who has to sign in first.
    func form(
        _ path: String,
        goal: ReturnPath = .account,
        _ answer: @escaping @Sendable (Visit, PageForm) async throws -> Response
    ) -> Route {
        Route(.post, path, isForOtherOrigins: false) { request, context in
            let token = token(request)
            // Without the cookie there is nothing that the form could be bound to.
            guard !token.isEmpty else { return AccountPages.seeOther(SignInRoute.address(goal)) }
            let form = try await PageForm(request, context, token: token, origin: parts.pages.origin)
            guard let visit = try await visit(request, context) else {
                return AccountPages.seeOther(SignInRoute.address(goal))
            }
            return try await Self.answer(visit, goal) { try await answer(visit, form) }
        }
    }

    /// What identity says of the browser's session.
    func use(
        _ token: String,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> IdentityV1.UseBrowserSessionResponse {
        var call = IdentityV1.UseBrowserSessionRequest()
        call.browserToken = token
        return try await parts.oauth.useBrowserSession(call, options: parts.options(request, context))
    }

    /// The value of the browser's cookie; empty if it has none.
    func token(_ request: Request) -> String { parts.pages.sessionCookie.value(request) }

    /// The visit of a browser whose session is alive; nil for any other.
    func visit(_ request: Request, _ context: RouteContext) async throws -> Visit? {
        let token = token(request)
        guard !token.isEmpty else { return nil }
        let used = try await use(token, request, context)
        guard used.hasSession else { return nil }
        return Visit(
            session: PageSession(used.session, token: token, request, context),
            signIn: used.signIn,
            request: request,
            context: context,
            parts: parts
        )
    }

    private static func answer(
        _ visit: Visit,
        _ goal: ReturnPath,
        back: ReturnPath? = nil,
        _ answer: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await answer()
        } catch {
            let problem = Problem(answering: error)
            if let page = visit.page(about: problem, goal: goal, back: back) { return page }
            guard problem.status == .unauthorized else { throw problem }
            // The session ended meanwhile. With a notice the sign-in page is shown whatever it thinks of the session.
            problem.note("the session of a page is not accepted", visit.context.logger)
            return seeOther(SignInRoute.address(goal, .ended))
        }
    }
}

extension AccountPages {
    /// Goes on to a page after a form, which says what was done.
    static func seeOther(_ path: String, _ notice: PageNotice? = nil) -> Response {
        let notice = notice.map { "?notice=\($0.rawValue)" } ?? ""
        return Response(status: .seeOther, headers: [.location: path + notice])
    }
}
