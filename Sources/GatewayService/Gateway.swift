import API
import Connect
import HTTP
import HTTPJSON
import Logging
import RPC
import RPCTransport
import ServiceKit
import WebPages

/// The edge between phones and services: every route, over three channels.
struct Gateway: Sendable {
    let backends: Backends
    let rateLimit: RateLimit
    /// Apple by web; nil where it is off, and then its routes don't exist.
    let webSignIn: WebSignIn?
    /// The pages that sign in, and OpenID Connect by them; nil where they are off, and then their routes don't exist.
    let signInPages: SignInPages?
    /// The languages of the pages.
    let languages: PageLanguages
    let dialects: DialectSettings
    /// Who may ask about tokens; nil where nobody may, and then there is no route for it.
    let introspectionClients: IntrospectionClients?
    /// The page of development; nil where there is none.
    let home: DevelopmentHome?
    let associations: DomainAssociations
    /// What routes and RPCs answer by.
    let methods: AppMethods
    /// The unary RPCs, and the routes made of them.
    private let table: AppMethodTable
    private let readiness: ReadinessCache

    /// A gateway to services.
    ///
    /// - Parameters:
    ///   - answers: identity's answers about tokens that are used again; nil to ask identity with each request.
    ///   - keyProofs: verifies proofs of possession; nil for none, and then no session is bound to a key.
    init(
        backends: Backends,
        rateLimit: RateLimit.Policy = .init(),
        webSignIn: WebSignIn? = nil,
        signInPages: SignInPages? = nil,
        languages: PageLanguages = .builtIn,
        dialects: DialectSettings = .init(),
        introspectionClients: IntrospectionClients? = nil,
        home: DevelopmentHome? = nil,
        associations: DomainAssociations = .init(),
        avatars: AvatarAddress = .init(),
        watchLimits: GroupWatches.Limits = .init(),
        answers: SessionAnswers? = nil,
        keyProofs: KeyProofs? = nil,
        readinessWait: Duration = ReadinessCache.wait,
        nowSeconds: @escaping @Sendable () -> Int64 = { WatchClock.nowSeconds }
    ) {
        self.backends = backends
        let rateLimit = RateLimit(rateLimit)
        self.rateLimit = rateLimit
        self.webSignIn = webSignIn
        self.signInPages = signInPages
        self.languages = languages
        self.dialects = dialects
        self.introspectionClients = introspectionClients
        self.home = home
        self.associations = associations
        readiness = ReadinessCache(backends.probes, wait: readinessWait)
        methods = AppMethods(
            identity: backends.identity,
            profile: backends.profile,
            groups: backends.groups,
            keySet: KeySetCache(identity: backends.identity),
            authentication: Authentication(
                identity: backends.identity,
                rateLimit: rateLimit,
                answers: answers,
                keyProofs: keyProofs
            ),
            memberNames: MemberNames(profile: backends.profile),
            avatars: avatars,
            watches: GroupWatches(
                invites: backends.invites,
                identity: backends.identity,
                limits: watchLimits,
                changes: answers?.changes ?? SessionChanges(),
                nowSeconds: nowSeconds
            )
        )
        table = AppMethodTable(methods)
    }

    /// From now on the gateway says that it isn't ready.
    func beginDrain() async { await readiness.beginDrain() }

    /// Every route that exists, each with its description.
    var endpoints: [Endpoint] {
        let authentication = methods.authentication
        let credentials = ProviderCredentials(methods: methods)
        var endpoints = [
            SignInWithAppleRoute.endpoint(credentials),
            SignInWithGoogleRoute.endpoint(credentials),
            SignInWithProviderRoute.endpoint(credentials),
            ReceiveAppleNoticeRoute.endpoint(authentication),
            ReceiveGoogleNoticeRoute.endpoint(authentication),
            RefreshSessionRoute.endpoint(methods),
            SignInAsGuestRoute.endpoint(methods),
            SignInWithPasskeyRoute.endpoint(methods),
            LinkProviderRoute.endpoint(methods),
            DeleteMeRoute.endpoint(methods),
            SetAvatarRoute.endpoint(methods),
            DeleteAvatarRoute.endpoint(methods),
            GetAvatarRoute.endpoint(methods),
            WatchGroupsRoute.endpoint(methods),
            GetKeySetRoute.endpoint(methods),
            GetServerMetadataRoute.endpoint(methods, metadata),
            IntrospectTokenRoute.endpoint(methods, introspectionClients),
            GetLivenessRoute.endpoint(),
            GetReadinessRoute.endpoint(readiness),
        ]
        endpoints += AssociationRoutes.endpoints(associations)
        endpoints += appRoutes.map { $0.endpoint(methods.authentication) }
        if let webSignIn {
            endpoints += [
                BeginAppleByWebRoute.endpoint(authentication, webSignIn),
                FinishAppleByWebRoute.endpoint(authentication, webSignIn, languages),
            ]
        }
        let openID = signInPages.map {
            OpenIDParts(pages: $0, oauth: backends.oauth, methods: methods, languages: languages)
        }
        if let openID {
            endpoints.append(GetOpenIDConfigurationRoute.endpoint(methods, metadata))
            endpoints += openID.endpoints
        }
        endpoints += dialects.endpoints(
            DialectParts(
                backends: backends,
                methods: methods,
                openID: openID,
                webSignIn: webSignIn,
                languages: languages
            )
        )
        return endpoints + [GetDescriptionRoute.endpoint(describing: described(endpoints))]
    }

    /// The routes of methods.
    var appRoutes: [AppRoute] { table.all.compactMap(AppRoute.init) }

    /// What the metadata documents say of this gateway.
    private var metadata: ServerMetadata {
        ServerMetadata(
            hasIntrospection: introspectionClients != nil,
            pages: signInPages,
            languages: languages.tags,
            hasKeyProofs: methods.authentication.keyProofs != nil
        )
    }

    /// The operations that the document and the page of development list: introspection only where clients are configured for it, and none of
    /// OpenID Connect, whose endpoints the metadata describes and libraries call.
    private func described(_ endpoints: [Endpoint]) -> [OpenAPI.Operation] {
        endpoints.map(\.operation).filter {
            (introspectionClients != nil || $0.id != IntrospectTokenRoute.operation.id)
                && !OpenIDParts.hasRoute(at: $0.path)
        }
    }

    /// What answers `GET /`, and the files of pages.
    private func pages(describing operations: [OpenAPI.Operation]) -> [Route] {
        var routes: [Route] = []
        if signInPages != nil || home != nil { routes += PageAsset.allCases.map(\.route) + [PageFile.icon.route] }
        if let signInPages {
            let parts = OpenIDParts(pages: signInPages, oauth: backends.oauth, methods: methods, languages: languages)
            routes += parts.pageRoutes + [ColorStyleRoute.route]
        }
        if let home {
            let page = HomePage(operations, routes: appRoutes, settings: home, pages: signInPages)
            routes += [page.route] + HomePage.files.map(\.route)
        } else if signInPages != nil {
            routes.append(AccountRedirect.route)
        }
        return routes
    }

    /// The RPCs that apps may call.
    ///
    /// - Parameters:
    ///   - timeLimit: how long a call may take where its client doesn't say less.
    ///   - metrics: where calls are counted.
    ///   - reflection: whether clients may ask for the descriptors.
    ///   - suspended: methods whose calls are refused for a while.
    /// - Throws: if a service has no descriptor.
    func router(
        timeLimit: Duration,
        logger: Logger,
        metrics: MetricsRegistry = MetricsRegistry(),
        interceptors: [any ServerInterceptor] = [],
        reflection: Bool = false,
        suspended: SuspendedMethods = SuspendedMethods()
    ) throws -> Router {
        let counts = AppCallMetrics()
        metrics.add(counts)
        let calls = AppCalls(
            rateLimit: rateLimit,
            timeLimit: timeLimit,
            logger: logger,
            metrics: counts,
            keyProofs: methods.authentication.keyProofs
        )
        var router = try AppRouter(methods: methods, table: table, calls: calls)
            .router(interceptors: interceptors, reflection: reflection, suspended: suspended)
        router.add(GatewayHealth(readiness: readiness, calls: calls))
        return router
    }

    /// What answers requests that are no calls.
    ///
    /// - Parameter metrics: where requests are counted.
    func handler(
        _ configuration: RouteHandler.Configuration,
        logger: Logger,
        metrics: MetricsRegistry = MetricsRegistry()
    ) -> RouteHandler {
        let dialects = dialects
        let languages = languages
        let hasPages = webSignIn != nil
        let hasSignInPages = signInPages != nil
        let endpoints = endpoints
        var routes = endpoints.map(\.route)
        routes += pages(describing: described(endpoints))
        let requests = RequestMetrics(routes: routes)
        let admission = rateLimit.admission(to: routes)
        metrics.add(requests)
        metrics.add(methods.memberNames)
        var configuration = configuration
        if let keyProofs = methods.authentication.keyProofs {
            metrics.add(keyProofs)
            configuration.answerField = { keyProofs.nonceField(answering: $0) }
        }
        return RouteHandler(
            routes: routes,
            configuration: configuration,
            logger: logger,
            log: ServiceRequestLog(logger),
            problem: { Problem(answering: $0) },
            render: { problem, request in
                if hasSignInPages, let page = OpenIDParts.response(to: request, telling: problem, languages) {
                    return page
                }
                return switch request.uri.path {
                case WebSignIn.callbackPath where hasPages:
                    FinishAppleByWebRoute.page(telling: problem, in: languages.text(for: request))
                case IntrospectTokenRoute.path: OAuthError(problem).response
                case ReceiveGoogleNoticeRoute.path: SecurityEventError(problem).response
                default: dialects.response(to: request, telling: problem, languages)
                }
            },
            admit: admission,
            observe: { requests.count($0) }
        )
    }

    /// What answers everything on the port that is no gRPC: calls of a router's methods, and routes.
    ///
    /// - Parameters:
    ///   - limits: those of the port.
    ///   - metrics: where requests are counted.
    func edge(
        _ router: Router,
        _ configuration: RouteHandler.Configuration,
        _ limits: HTTPLimits,
        logger: Logger,
        metrics: MetricsRegistry = MetricsRegistry()
    ) -> EdgeHandler {
        var configuration = configuration
        configuration.methodsOfCalls = { head in
            guard let method = router[String(head.path)]?.descriptor else { return [] }
            return method.allowsGet ? ["GET", "POST"] : ["POST"]
        }
        var bounds = ConnectionLimits()
        bounds.messageBytesMax = limits.bodyBytesMax
        return EdgeHandler(
            calls: ConnectHandler(router, limits: bounds, detailTypes: RPCError.detailTypes),
            routes: handler(configuration, logger: logger, metrics: metrics)
        )
    }
}
