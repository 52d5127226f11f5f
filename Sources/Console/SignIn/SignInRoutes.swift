import HTTPJSON
import HTTPTypes
import IdentityDomain
import Logging
import RPC
import ServiceKit
import WebPages

/// How operators sign in and out.
enum SignInRoutes {
    static let path = "/sign-in"
    static let beginPath = "/sign-in/begin"
    static let callbackPath = "/sign-in/callback"
    static let certificatePath = "/sign-in/certificate"
    static let signOutPath = "/sign-out"
    private static let goalName = "goal"

    /// What the sign-in page says of what came before.
    enum Notice: String {
        case failed
        case unknown
        case unavailable
        case cancelled
        case ended
        case withoutAuthTime = "without-auth-time"

        var sentence: String {
            switch self {
            case .failed: "The sign-in failed. Try again."
            case .unknown: "You are no operator of this console. Who runs it can add you."
            case .unavailable: "The provider can't be asked now. Try again in a moment."
            case .cancelled: "The sign-in was cancelled."
            case .ended: "You are signed out."
            case .withoutAuthTime:
                "The provider doesn’t say when you signed in. Who runs the console can accept that by a setting."
            }
        }
    }

    static func all(_ console: Console) -> [Route] {
        [
            Route(.get, path, isForOtherOrigins: false) { request, context in show(console, request, context) },
            Route(.get, beginPath, isForOtherOrigins: false) { request, context in
                await begin(console, request, context)
            },
            Route(.get, callbackPath, isForOtherOrigins: false) { request, context in
                try await finish(console, request, context)
            },
            Route(.post, certificatePath, isForOtherOrigins: false) { request, context in
                try await signInByCertificate(console, request, context)
            },
            Route(.post, signOutPath, isForOtherOrigins: false) { request, context in
                let token = console.sessionCookie.value(request)
                _ = try await PageForm(request, context, token: token, origin: console.settings.origin.text)
                console.sessions.end(token)
                return Console.seeOther(address(.accounts, .ended), cookies: [console.sessionCookie.clearing])
            },
        ]
    }

    /// To the sign-in page, and then to a page.
    static func redirect(for goal: ConsolePath) -> Response { Console.seeOther(address(goal)) }

    /// The address of a sign-in that begins anew at once, for a page.
    static func beginAddress(_ goal: ConsolePath) -> String {
        "\(beginPath)?\(goalName)=\(FormFields.encode(goal.text))"
    }

    private static func address(_ goal: ConsolePath, _ notice: Notice? = nil) -> String {
        "\(path)?\(goalName)=\(FormFields.encode(goal.text))" + (notice.map { "&notice=\($0.rawValue)" } ?? "")
    }

    private static func goal(_ request: Request) -> ConsolePath {
        request.uri.queryParameters[goalName].flatMap { ConsolePath($0) } ?? .accounts
    }

    private static func show(_ console: Console, _ request: Request, _ context: RouteContext) -> Response {
        let goal = goal(request)
        let notice = request.uri.queryParameters["notice"].flatMap(Notice.init(rawValue:))
        let said: HTML = notice.map { "<p class=\"notice\" role=\"status\">\($0.sentence)</p>\n" } ?? ""
        let way: HTML
        if console.provider != nil {
            way =
                "<p><a class=\"button strong\" href=\"\(beginAddress(goal))\">Sign in with \(console.settings.provider?.issuer ?? "")</a></p>"
        } else if let person = certified(console, context) {
            way = """
                <form method="post" action="\(certificatePath)">
                \(HTML.hidden([(goalName, goal.text)]))<button class="strong" type="submit">Continue as \(person.name.value)</button>
                </form>
                """
        } else {
            way = "<p>Your certificate is no operator's. Who runs the console can add you.</p>"
        }
        var page = PageDocument(
            title: "Operators' console",
            body:
                "<main>\n<h1>Operators’ console</h1>\n\(said)<p>What you do here is recorded with your name.</p>\n\(way)\n</main>"
        )
        page.styles = ConsolePage.styles
        page.formTargets = "'self'"
        return page.response
    }

    private static func begin(_ console: Console, _ request: Request, _ context: RouteContext) async -> Response {
        let goal = goal(request)
        // A link of another site leads to our page, where the operator decides.
        guard let provider = console.provider, !PageForm.isOfAnotherSite(request) else { return redirect(for: goal) }
        let now = console.now()
        let attempt = SignInAttempt(goal: goal, now: now)
        do {
            let address = try await provider.address(of: attempt, now: now)
            let cookie = console.attemptCookie.setting(
                attempt.cookie(key: console.attemptKey),
                maxAgeSeconds: SignInAttempt.secondsMax
            )
            return Console.seeOther(address, cookies: [cookie].compactMap(\.self))
        } catch {
            return failure(error, goal, context)
        }
    }

    private static func finish(
        _ console: Console,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        let now = console.now()
        let clearing = console.attemptCookie.clearing
        guard let provider = console.provider,
            let fields = try? FormFields(queryOf: request), fields.repeatedName == nil,
            let attempt = SignInAttempt(
                cookie: console.attemptCookie.value(request),
                key: console.attemptKey,
                now: now
            ), fields["state"] == attempt.state
        else { return Console.seeOther(address(.accounts, .failed), cookies: [clearing]) }
        guard let code = fields["code"], 1...CodeGrant.codeBytesMax ~= code.utf8.count else {
            let notice: Notice = fields["error"] == "access_denied" ? .cancelled : .failed
            return Console.seeOther(address(attempt.goal, notice), cookies: [clearing])
        }
        return try await console.exchanges.run(for: ClientAddress(context.peer)) {
            guard console.usedAttempts.use(attempt.state, now: now) else {
                return Console.seeOther(address(attempt.goal, .failed), cookies: [clearing])
            }
            return await exchange(console, provider, code, attempt, request, context)
        }
    }

    /// Exchanges the code of an attempt, and opens a session for the operator whom that proves.
    private static func exchange(
        _ console: Console,
        _ provider: OpenIDProvider,
        _ code: String,
        _ attempt: SignInAttempt,
        _ request: Request,
        _ context: RouteContext
    ) async -> Response {
        let now = console.now()
        let clearing = console.attemptCookie.clearing
        do {
            let signIn = try await provider.finish(code: code, attempt, now: now)
            let found = console.operators.current(now).operatorOf(signIn.subject)
            guard let person = found, console.hasCertificate(of: person, context) else {
                // The subject is for who adds the operator: it proves nothing and opens nothing.
                context.logger.notice(
                    "a person who is no operator signed in",
                    metadata: ["issuer": "\(signIn.subject.issuer)", "subject": "\(signIn.subject.subject)"]
                )
                return Console.seeOther(address(attempt.goal, .unknown), cookies: [clearing])
            }
            let way = ConsoleSession.Way.provider(signIn.subject, signIn.proof)
            let session = open(console, person, way, replacing: request, context)
            return Console.seeOther(attempt.goal.text, cookies: [clearing, session])
        } catch {
            var response = failure(error, attempt.goal, context)
            response.headers[values: .setCookie] = [clearing]
            return response
        }
    }

    private static func signInByCertificate(
        _ console: Console,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        guard PageForm.isOfOwnSite(request, console.settings.origin.text) else { throw PageForm.foreign }
        let form = try await context.form(request)
        let goal = form[goalName].flatMap { ConsolePath($0) } ?? .accounts
        guard console.provider == nil, let person = certified(console, context) else {
            return Console.seeOther(address(goal, .unknown))
        }
        return Console.seeOther(goal.text, cookies: [open(console, person, .certificate, replacing: request, context)])
    }

    /// The operator of the connection's certificate.
    private static func certified(_ console: Console, _ context: RouteContext) -> ConsoleOperator? {
        console.operators.current(console.now())
            .operatorOf(certificateNames: context.peer.certificateNames)
    }

    /// Opens a session in the place of the browser's earlier one, and returns what sets its cookie.
    private static func open(
        _ console: Console,
        _ person: ConsoleOperator,
        _ way: ConsoleSession.Way,
        replacing request: Request,
        _ context: RouteContext
    ) -> String {
        console.sessions.end(console.sessionCookie.value(request))
        let token = console.sessions.begin(person.name.value, way, now: console.now())
        context.logger.notice(
            "an operator signed in",
            metadata: ["operator": "\(person.name.value)", "role": "\(person.role.rawValue)"]
        )
        let lifetime = console.settings.sessions.lifetimeSeconds
        return console.sessionCookie.setting(token, maxAgeSeconds: lifetime) ?? console.sessionCookie.clearing
    }

    private static func failure(_ failure: SignInFailure, _ goal: ConsolePath, _ context: RouteContext) -> Response {
        let (notice, words): (Notice, String) =
            switch failure {
            case .unavailable(let words): (.unavailable, words)
            case .rejected(let words): (.failed, words)
            case .withoutAuthTime:
                (
                    .withoutAuthTime,
                    "the ID token has no auth_time, though max_age asks for it; \(ConsoleKeys.isAuthTimeOptional.name) accepts that"
                )
            }
        context.logger.warning("a sign-in at the console failed", metadata: ["problem": "\(words)"])
        return Console.seeOther(address(goal, notice))
    }
}
