import API
import HTTPJSON
import HTTPTypes
import IdentityDomain
import JOSE
import Logging
import RPC
import ServiceKit
import WebPages

/// What all pages of the console answer with.
struct Console: Sendable {
    let settings: ConsoleSettings
    let operators: OperatorsFile
    let identity: OperatorServiceClient
    /// Nil where operators sign in by certificates.
    let provider: OpenIDProvider?
    let history: MetricsHistory
    let sessions: ConsoleSessions
    let usedAttempts = UsedAttempts()
    let exchanges = ExchangeLimit()
    let searches = SearchLimit()
    /// Seals the cookies of sign-ins that have begun: of this process alone.
    let attemptKey = SecureRandom.bytes(SHA256.byteCount)
    let now: @Sendable () -> ConsoleTime
    let logger: Logger

    init(
        settings: ConsoleSettings,
        operators: OperatorsFile,
        identity: OperatorServiceClient,
        provider: OpenIDProvider?,
        history: MetricsHistory,
        now: @escaping @Sendable () -> ConsoleTime = { .now() },
        logger: Logger
    ) {
        self.settings = settings
        self.operators = operators
        self.identity = identity
        self.provider = provider
        self.history = history
        self.now = now
        self.logger = logger
        sessions = ConsoleSessions(limits: settings.sessions)
    }

    /// Answers requests. A request for another host than the console's own is refused: a page of a stranger's site whose name was made to
    /// stand for this machine (DNS rebinding) reaches nothing.
    var handler: RouteHandler {
        var configuration = RouteHandler.Configuration(limits: settings.edge.limits)
        // Not for this machine's own name, which other programs serve by http.
        if !settings.origin.isClear, !settings.origin.isOfThisMachine {
            configuration.strictTransportSeconds = 180 * 86_400
        }
        let authority = settings.origin.authority
        return RouteHandler(
            routes: routes,
            configuration: configuration,
            logger: logger,
            problem: { ConsoleProblem.problem(of: $0) },
            render: { problem, _ in ConsoleProblem.page(problem) },
            admit: { request, _ in
                guard request.authority.map({ $0 == authority }) ?? false || request.uri.path == Self.healthPath else {
                    throw Problem(
                        .misdirectedRequest,
                        code: "REQUEST_INVALID",
                        detail: "This is not the console's address. \(ConsoleKeys.publicURL.name) says what is."
                    )
                }
            }
        )
    }

    static let healthPath = "/healthz"

    private var routes: [Route] {
        [
            Route(.get, Self.healthPath, isForOtherOrigins: false, atOnce: { _, _ in .json(["status": "ok"]) }),
            Route(.get, "/", isForOtherOrigins: false, atOnce: { _, _ in Self.seeOther(ConsolePath.accounts.text) }),
        ] + SignInRoutes.all(self) + AccountsPage.routes(self) + AccountPage.routes(self) + AccountActs.routes(self)
            + DisputesPage.routes(self) + SystemPages.routes(self) + ConsolePage.files.map(\.route)
    }

    /// Goes on to a page of ours.
    static func seeOther(_ path: String, cookies: [String] = []) -> Response {
        var headers: HTTPFields = [.location: path]
        headers[values: .setCookie] = cookies
        return Response(status: .seeOther, headers: headers)
    }
}

extension Console {
    /// The browser's session.
    var sessionCookie: PageCookie {
        PageCookie("vestibule-console", sameSite: .lax, isClear: settings.origin.isClear)
    }
    /// The sign-in in progress; the provider sends the browser back by a link of its own.
    var attemptCookie: PageCookie {
        PageCookie("vestibule-console-sign-in", sameSite: .lax, isClear: settings.origin.isClear)
    }

    /// A request of an operator who has signed in, and is an operator still.
    struct Visit: Sendable {
        let console: Console
        let session: ConsoleSession
        let person: ConsoleOperator
        let request: Request
        let context: RouteContext

        /// Calls on behalf of the operator.
        var calls: OperatorCalls { OperatorCalls(client: console.identity, name: person.name) }

        /// A text that this session alone can make of another one.
        func seal(_ text: String) -> String {
            let key = Array(session.formValue.utf8) + console.attemptKey
            return Base64URL.encode(SHA256.authenticationCode(of: Array(text.utf8), key: key))
        }

        /// What a guarded act takes, and by what the age of the sign-in is known.
        var freshness: String {
            let most = "a sign-in of the last \(console.settings.freshSeconds) seconds"
            return switch session.way {
            case .certificate: "Your certificate proves with each connection who you are."
            case .provider(_, let proof) where proof.basis == .authTime:
                "This takes \(most), by the time that the provider gives (auth_time)."
            case .provider:
                "This takes \(most), counted from when the console asked the provider. That doesn’t say whether it asked you for a "
                    + "password, or took a session of its own."
            }
        }

        /// Refuses what the operator may not do, or not now.
        func require(_ act: ConsoleAct) throws(ActRefusal) {
            let now = console.now()
            let age: Int64? =
                if case .provider(_, let proof) = session.way { now.seconds(since: proof.at) } else { nil }
            try act.judge(
                person.role,
                signInAgeSeconds: age,
                freshSeconds: console.settings.freshSeconds
            )
        }
    }

    /// The visit of a browser whose session is alive and whose operator the file still has; nil for any other.
    ///
    /// A session by certificate needs a connection with a certificate of the same operator.
    func visit(_ request: Request, _ context: RouteContext, isByOperator: Bool = true) -> Visit? {
        let now = now()
        let token = sessionCookie.value(request)
        guard let session = sessions.use(token, now: now, isByOperator: isByOperator) else { return nil }
        let list = operators.current(now)
        // A name that the file has given to somebody else since opens nothing.
        let person: ConsoleOperator? =
            switch session.way {
            case .certificate: list.operatorOf(certificateNames: context.peer.certificateNames)
            case .provider(let subject, _): list.operatorOf(subject)
            }
        guard let person, person.name.value == session.name, hasCertificate(of: person, context) else { return nil }
        return Visit(console: self, session: session, person: person, request: request, context: context)
    }

    /// Whether the connection has the certificate that the operator's entry names, where the listener asks for certificates.
    func hasCertificate(of person: ConsoleOperator, _ context: RouteContext) -> Bool {
        guard let certificate = person.certificate, settings.hasClientAuthorities else { return true }
        return context.peer.certificateNames.contains(certificate)
    }

    /// `GET` of a page, for an act that only looks.
    func page(
        _ path: String,
        _ act: ConsoleAct,
        isByOperator: @escaping @Sendable (Request) -> Bool = { _ in true },
        _ answer: @escaping @Sendable (Visit) async throws -> Response
    ) -> Route {
        Route(.get, path, isForOtherOrigins: false) { request, context in
            guard let visit = visit(request, context, isByOperator: isByOperator(request)) else {
                return SignInRoutes.redirect(for: ConsolePath(request.uri.path) ?? .accounts)
            }
            // A link of another site would have things looked up, and recorded, in the operator's name.
            if PageForm.isOfAnotherSite(request) { return ConsolePage.fromAnotherSite(visit) }
            return try await Self.answer(visit) {
                try visit.require(act)
                return try await answer(visit)
            }
        }
    }

    /// `POST` of a form of a page of this session.
    func form(
        _ path: String,
        _ answer: @escaping @Sendable (Visit, PageForm) async throws -> Response
    ) -> Route {
        Route(.post, path, isForOtherOrigins: false) { request, context in
            let token = sessionCookie.value(request)
            let form = try await PageForm(request, context, token: token, origin: settings.origin.text)
            guard let visit = visit(request, context) else { return SignInRoutes.redirect(for: .accounts) }
            return try await Self.answer(visit) { try await answer(visit, form) }
        }
    }

    private static func answer(_ visit: Visit, _ answer: () async throws -> Response) async throws -> Response {
        do {
            return try await answer()
        } catch let refusal as ActRefusal {
            visit.context.logger.notice(
                "refused an operator's act",
                metadata: [
                    "operator": "\(visit.person.name.value)", "why": "\(refusal)", "path": "\(visit.request.uri.path)",
                ]
            )
            return ConsolePage.refusal(refusal, visit)
        } catch let error as RPCError {
            visit.context.logger.notice(
                "identity refused an operator's call",
                metadata: ["code": "\(error.code)", "reason": "\(error.reason ?? "")"]
            )
            return ConsolePage.failure(error, visit)
        }
    }
}
