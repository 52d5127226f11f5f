import API
import HTTPJSON
import HTTPTypes
import Logging
import WebPages

/// `POST /sign-in/{provider}/callback`: takes what a provider posts, opens a session for the browser, and goes on with the client's
/// request. Every sign-in opens a session of its own, whatever cookie the browser had.
enum FinishSignInRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "\(BeginSignInRoute.pathPrefix){provider}/callback",
        id: "finishSignIn",
        tag: .auth,
        summary: "Takes what a provider posts, and signs the browser in",
        description: "The provider's form_post. The state must be that of the browser's cookie.",
        caller: .anyone,
        parameters: [.signInProvider],
        body: .form(.providerForm),
        answers: [303: .init("Goes on with the client's request, or to the sign-in page with a reason.")],
        problems: [.notFound],
        answersPages: true
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            try await finish(at: try BeginSignInRoute.provider(context), parts, request, context)
        }
    }

    /// Takes what a provider posts.
    ///
    /// - Parameter provider: that of the path; nil where the path is the same for all.
    static func finish(
        at provider: String?,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        let form = try await ProviderForm(request, context)
        guard let cookie = SignInCookie(parts.pages.signInCookie.value(request)),
            form.isOf(browserState: cookie.state), provider ?? cookie.provider == cookie.provider
        else { throw ProviderForm.foreignState }
        let provider = cookie.provider
        if let word = form.error {
            let isTemporary = word == "server_error" || word == "temporarily_unavailable"
            let notice: SignInNotice = form.isCancelled ? .cancelled : isTemporary ? .later : .failed
            return next(cookie, notice, provider, parts)
        }
        do {
            let tickets = try await tickets(provider, form, cookie, parts, request, context)
            if let link = LinkRequest(request: cookie.request) {
                let setting = try linkSetting(provider, tickets, cookie, link, parts)
                return next(cookie, nil, provider, parts, setting: setting)
            }
            let tokens = try await signIn(provider, tickets, cookie, parts, request, context)
            let session = parts.pages.sessionCookie
                .setting(tokens.singleToken, maxAgeSeconds: tokens.expiresInSeconds)
            guard let session, !tokens.singleToken.isEmpty else { throw Problem.internalError(cause: NoToken()) }
            return next(cookie, nil, provider, parts, setting: session)
        } catch {
            let problem = Problem(answering: error)
            problem.note("a sign-in by a page failed", context.logger)
            return next(cookie, SignInNotice(problem), provider, parts)
        }
    }

    /// Has identity verify what the provider posted.
    private static func tickets(
        _ provider: String,
        _ form: ProviderForm,
        _ cookie: SignInCookie,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> IdentityV1.FinishWebSignInResponse {
        let finish = form.finishRequest(
            provider: provider,
            browserState: cookie.state,
            redirectURI: BeginSignInRoute.callbackURL(provider, parts.pages)
        )
        return try await parts.authentication.identity
            .finishWebSignIn(finish, options: parts.options(request, context))
    }

    /// What keeps the tickets until the user confirms the linking: the provider's form comes without the session's cookie.
    private static func linkSetting(
        _ provider: String,
        _ tickets: IdentityV1.FinishWebSignInResponse,
        _ cookie: SignInCookie,
        _ link: LinkRequest,
        _ parts: OpenIDParts
    ) throws -> String {
        let linking = Linking(
            provider: provider,
            tickets,
            verifier: cookie.verifier,
            formValue: link.formValue
        )
        guard let setting = parts.pages.linkCookie.setting(linking.value, maxAgeSeconds: Linking.maxAgeSeconds) else {
            throw Problem.internalError(cause: NoToken())
        }
        return setting
    }

    /// Opens a session for the browser.
    private static func signIn(
        _ provider: String,
        _ tickets: IdentityV1.FinishWebSignInResponse,
        _ cookie: SignInCookie,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> IdentityV1.SessionTokens {
        var call = IdentityV1.SignInRequest()
        call.provider = provider
        call.idToken = tickets.idTokenTicket
        call.authorizationCode = tickets.codeTicket
        call.codeVerifier = cookie.verifier
        call.deviceName = DeviceName.of(userAgent: request.headers[.userAgent] ?? "")
        call.tokenStyle = .browser
        return try await parts.authentication.identity.signIn(call, options: parts.options(request, context)).tokens
    }

    /// Goes on with the client's request by a GET of our own site, which brings the session's cookie along.
    private static func next(
        _ cookie: SignInCookie,
        _ notice: SignInNotice?,
        _ provider: String,
        _ parts: OpenIDParts,
        setting: String? = nil
    ) -> Response {
        var headers: HTTPFields = [
            .location: AuthorizeRoute.continueAddress(cookie.request, notice, provider: provider)
        ]
        headers[values: .setCookie] = [parts.pages.signInCookie.clearing] + (setting.map { [$0] } ?? [])
        return Response(status: .seeOther, headers: headers)
    }

    private struct NoToken: Error {}
}

extension OpenAPI.Schema {
    static let providerForm = object([
        .optional("state", .text("As the provider got it.")),
        .optional("id_token", .text("The provider's ID token.")),
        .optional("code", .text("The provider's authorization code.", maxLength: 2048)),
        .optional("user", .text("JSON, from Apple the first time only: name and email.")),
        .optional("error", .text("In the place of all the others but state.")),
    ]).named("ProviderForm")
}
