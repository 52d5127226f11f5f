import API
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import RPC
import WebPages

/// `POST /auth/apple/callback`: takes what Apple posts (`form_post`), and sends the browser on to the app with one-time tickets
/// in the places of the ID token and the code. Every answer is a page.
enum FinishAppleByWebRoute {
    static let operation = OpenAPI.Operation(
        .post,
        WebSignIn.callbackPath,
        id: "finishAppleByWeb",
        tag: .auth,
        summary: "Takes what Apple posts, and sends the browser on to the app",
        description: """
            Apple's form_post. The page leads to the app URL with id_token and code, which are one-time tickets for two \
            minutes and not Apple's, or with error. /auth/apple describes how to redeem the tickets.
            """,
        caller: .anyone,
        body: .form(.appleForm),
        answers: [200: .page("Leads to the app, with tickets or with an error.")],
        problems: [.forbidden],
        answersPages: true
    )

    static func endpoint(
        _ authentication: Authentication,
        _ webSignIn: WebSignIn,
        _ languages: PageLanguages
    ) -> Endpoint {
        return Endpoint(operation, isForOtherOrigins: false) { request, context in
            let text = languages.text(for: request)
            return await Callback(authentication: authentication, webSignIn: webSignIn, text: text)
                .answer(request, context)
        }
    }

    /// A page that leads nowhere, also for a browser that never reached the route. For temporary failures it asks the person to
    /// load it again.
    static func page(telling problem: Problem, in text: PageText) -> Response {
        problem.page(
            BrowserPage.failure(
                .notSignedIn,
                problem.mayPass ? .tryAgain : .goBack,
                in: text,
                status: problem.pageStatus
            )
        )
    }

    /// Handles the form that a browser brings from Apple.
    private struct Callback: Sendable {
        let authentication: Authentication
        let webSignIn: WebSignIn
        let text: PageText

        func answer(_ request: Request, _ context: RouteContext) async -> Response {
            let cookie = WebSignInCookie(request)
            let form: ProviderForm
            do {
                form = try await ProviderForm(request, context)
            } catch {
                return refuse(Problem(answering: error), context)
            }
            if let word = form.error { return tell(error: word, form, cookie, context) }
            do {
                let call = form.finishRequest(
                    provider: "apple",
                    browserState: cookie?.state ?? "",
                    redirectURI: webSignIn.callbackURL,
                    clientsWithoutState: webSignIn.withoutState.keys.sorted()
                )
                let options = authentication.callOptionsWithAddress(.route(request, context))
                let finished = try await authentication.identity.finishWebSignIn(call, options: options)
                return clearing(cookie, of: form, try success(finished))
            } catch {
                return failure(Problem(answering: error), form, cookie, context)
            }
        }

        private func success(_ finished: IdentityV1.FinishWebSignInResponse) throws -> Response {
            // Checked again: the list may have changed since the state was made.
            let begun = finished.appURL.isEmpty ? nil : webSignIn.appURL(finished.appURL)
            let url = finished.appURL.isEmpty ? webSignIn.withoutState[finished.clientID] : begun
            guard let url else {
                throw Problem(.forbidden, code: "APP_URL_UNKNOWN", detail: "The app's URL is not configured any more.")
            }
            let tickets = [("id_token", finished.idTokenTicket), ("code", finished.codeTicket)]
            return BrowserPage.forward(to: url.adding(tickets), in: text)
        }

        /// Apple says that there is no sign-in, mostly since the person closed its page.
        private func tell(
            error word: String,
            _ form: ProviderForm,
            _ cookie: WebSignInCookie?,
            _ context: RouteContext
        ) -> Response {
            guard let url = appURL(form, cookie) else {
                return refuse(ProviderForm.foreignState, context)
            }
            return clearing(cookie, of: form, forward(to: url, error: word, status: .ok))
        }

        private func failure(
            _ problem: Problem,
            _ form: ProviderForm,
            _ cookie: WebSignInCookie?,
            _ context: RouteContext
        ) -> Response {
            // The form is still good then, and the browser still has it and its cookie.
            if problem.mayPass || problem.code == ProviderForm.foreignState.code { return refuse(problem, context) }
            guard let url = appURL(form, cookie) else { return clearing(cookie, of: form, refuse(problem, context)) }
            problem.note("Apple by web failed", context.logger)
            let page = forward(to: url, error: "server_error", status: problem.pageStatus)
            return clearing(cookie, of: form, page)
        }

        /// Where a form without tokens leads: the state must be the browser's own, or there must be none and just one app
        /// whose browsers bring none.
        private func appURL(_ form: ProviderForm, _ cookie: WebSignInCookie?) -> AppURL? {
            if form.state.isEmpty { return webSignIn.onlyWithoutState }
            guard let cookie, form.isOf(browserState: cookie.state) else { return nil }
            return webSignIn.appURL(cookie.appURL)
        }

        private func forward(to url: AppURL, error: String, status: HTTPResponse.Status) -> Response {
            BrowserPage.forward(
                to: url.adding([("error", error)]),
                title: .notSignedIn,
                sentence: .notSignedInText,
                in: text,
                status: status
            )
        }

        private func refuse(_ problem: Problem, _ context: RouteContext) -> Response {
            problem.note("Apple by web failed", context.logger)
            return page(telling: problem, in: text)
        }

        /// Ends the sign-in that the browser began, if this form belongs to it. Any site can make a browser post a form without
        /// state, or with another's; such a form must not end a sign-in in progress.
        private func clearing(_ cookie: WebSignInCookie?, of form: ProviderForm, _ response: Response) -> Response {
            guard let cookie, form.isOf(browserState: cookie.state) else { return response }
            var response = response
            response.headers[.setCookie] = WebSignInCookie.clearing
            return response
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let appleForm = object([
        .optional("state", .text("As /auth/apple/start gave it to Apple.")),
        .optional("id_token", .text("Apple's ID token.")),
        .optional("code", .text("Apple's authorization code.", maxLength: 2048)),
        .optional("user", .text("JSON, the first time only: name and email.")),
        .optional("error", .text("In the place of all the others but state.")),
    ]).named("AppleForm")
}
