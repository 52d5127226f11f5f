import API
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import RPC

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

    static func endpoint(_ authentication: Authentication, _ webSignIn: WebSignIn) -> Endpoint {
        let callback = Callback(authentication: authentication, webSignIn: webSignIn)
        return Endpoint(operation, isForOtherOrigins: false) { request, context in
            await callback.answer(request, context)
        }
    }

    /// A page that leads nowhere, also for a browser that never reached the route. For temporary failures it asks the person to
    /// load it again.
    static func page(telling problem: Problem) -> Response {
        let mayBeRepeated = problem.status.code >= 500 || problem.status == .tooManyRequests
        var page = BrowserPage.failure(
            "You are not signed in",
            mayBeRepeated
                ? "This did not work just now. Please load this page again in a moment."
                : "Please close this page, go back to the app and try again.",
            status: status(of: problem)
        )
        page.headers[.retryAfter] = problem.headers[.retryAfter]
        page.headers[.allow] = problem.headers[.allow]
        page.closesConnection = problem.closesConnection
        return page
    }

    /// A page asks for no credentials, as a 401 would have to.
    private static func status(of problem: Problem) -> HTTPResponse.Status {
        problem.status == .unauthorized ? .badRequest : problem.status
    }

    /// Handles the form that a browser brings from Apple.
    private struct Callback: Sendable {
        let authentication: Authentication
        let webSignIn: WebSignIn

        func answer(_ request: Request, _ context: RouteContext) async -> Response {
            let cookie = WebSignInCookie(request)
            let form: FormFields
            do {
                form = try await context.form(request)
            } catch {
                return refuse(Problem(answering: error), context)
            }
            guard form.repeatedName == nil else {
                return refuse(
                    Problem(.badRequest, code: "FORM_MALFORMED", detail: "The form has a field twice."),
                    context
                )
            }
            if let word = form["error"], !word.isEmpty { return tell(error: word, form, cookie, context) }
            do {
                let call = finishRequest(form, cookie)
                let options = authentication.callOptionsWithAddress(.route(request, context))
                let finished = try await authentication.identity.finishWebSignIn(call, options: options)
                return clearing(cookie, of: form, try success(finished))
            } catch {
                return failure(Problem(answering: error), form, cookie, context)
            }
        }

        private func finishRequest(
            _ form: FormFields,
            _ cookie: WebSignInCookie?
        ) -> IdentityV1.FinishWebSignInRequest {
            let told = AppleUser(form["user"] ?? "")
            var call = IdentityV1.FinishWebSignInRequest()
            call.provider = "apple"
            call.idToken = form["id_token"] ?? ""
            call.authorizationCode = form["code"] ?? ""
            call.fullName = told.name
            call.email = told.email
            call.state = form["state"] ?? ""
            call.browserState = cookie?.state ?? ""
            call.clientsWithoutState = webSignIn.withoutState.keys.sorted()
            call.redirectUri = webSignIn.callbackURL
            return call
        }

        private func success(_ finished: IdentityV1.FinishWebSignInResponse) throws -> Response {
            // Checked again: the list may have changed since the state was made.
            let begun = finished.appURL.isEmpty ? nil : webSignIn.appURL(finished.appURL)
            let url = finished.appURL.isEmpty ? webSignIn.withoutState[finished.clientID] : begun
            guard let url else {
                throw Problem(.forbidden, code: "APP_URL_UNKNOWN", detail: "The app's URL is not configured any more.")
            }
            let tickets = [("id_token", finished.idTokenTicket), ("code", finished.codeTicket)]
            return BrowserPage.forward(to: url.adding(tickets))
        }

        /// Apple says that there is no sign-in, mostly since the person closed its page.
        private func tell(
            error word: String,
            _ form: FormFields,
            _ cookie: WebSignInCookie?,
            _ context: RouteContext
        ) -> Response {
            guard let url = appURL(form, cookie) else {
                return refuse(Self.foreignState, context)
            }
            let error = Self.errorWords.contains(word) ? word : "server_error"
            return clearing(cookie, of: form, forward(to: url, error: error, status: .ok))
        }

        private func failure(
            _ problem: Problem,
            _ form: FormFields,
            _ cookie: WebSignInCookie?,
            _ context: RouteContext
        ) -> Response {
            let isOurs = problem.status.code >= 500 || problem.status == .tooManyRequests
            // The form is still good then, and the browser still has it and its cookie.
            if isOurs || problem.code == Self.foreignState.code { return refuse(problem, context) }
            guard let url = appURL(form, cookie) else { return clearing(cookie, of: form, refuse(problem, context)) }
            note(problem, context)
            let page = forward(to: url, error: "server_error", status: status(of: problem))
            return clearing(cookie, of: form, page)
        }

        /// Where a form without tokens leads: the state must be the browser's own, or there must be none and just one app
        /// whose browsers bring none.
        private func appURL(_ form: FormFields, _ cookie: WebSignInCookie?) -> AppURL? {
            if (form["state"] ?? "").isEmpty { return webSignIn.onlyWithoutState }
            guard let cookie, began(cookie, form) else { return nil }
            return webSignIn.appURL(cookie.appURL)
        }

        /// Whether a form is of the sign-in that the cookie's browser began.
        private func began(_ cookie: WebSignInCookie, _ form: FormFields) -> Bool {
            ConstantTime.areEqual(form["state"] ?? "", cookie.state)
        }

        private func forward(to url: AppURL, error: String, status: HTTPResponse.Status) -> Response {
            BrowserPage.forward(
                to: url.adding([("error", error)]),
                title: "You are not signed in",
                text: "Please go back to the app and try again.",
                status: status
            )
        }

        private func refuse(_ problem: Problem, _ context: RouteContext) -> Response {
            note(problem, context)
            return page(telling: problem)
        }

        /// Logs a failed sign-in, without any content of the form.
        private func note(_ problem: Problem, _ context: RouteContext) {
            var facts: [String: String] = ["code": problem.code]
            if let cause = problem.cause { facts["cause"] = "\(cause)" }
            context.logger.log(
                level: problem.status.code >= 500 ? .error : .notice,
                "Apple by web failed",
                metadata: facts.mapValues { "\($0)" }
            )
        }

        /// Ends the sign-in that the browser began, if this form belongs to it. Any site can make a browser post a form without
        /// state, or with another's; such a form must not end a sign-in in progress.
        private func clearing(_ cookie: WebSignInCookie?, of form: FormFields, _ response: Response) -> Response {
            guard let cookie, began(cookie, form) else { return response }
            var response = response
            response.headers[.setCookie] = WebSignInCookie.clearing
            return response
        }

        private static let foreignState = Problem(
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

extension OpenAPI.Schema {
    fileprivate static let appleForm = object([
        .optional("state", .text("As /auth/apple/start gave it to Apple.")),
        .optional("id_token", .text("Apple's ID token.")),
        .optional("code", .text("Apple's authorization code.", maxLength: 2048)),
        .optional("user", .text("JSON, the first time only: name and email.")),
        .optional("error", .text("In the place of all the others but state.")),
    ]).named("AppleForm")
}
