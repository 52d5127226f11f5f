import HTTPJSON
import Logging
import ServiceKit

/// The edge between phones and services: every route, over three channels.
struct Gateway: Sendable {
    let backends: Backends
    let rateLimit: RateLimit
    /// Apple by web; nil where it is off, and then its routes don't exist.
    let webSignIn: WebSignIn?
    let dialects: DialectSettings

    /// A gateway to services.
    init(
        backends: Backends,
        rateLimit: RateLimit.Policy = .init(),
        webSignIn: WebSignIn? = nil,
        dialects: DialectSettings = .init()
    ) {
        self.backends = backends
        self.rateLimit = RateLimit(rateLimit)
        self.webSignIn = webSignIn
        self.dialects = dialects
    }

    /// Every route that exists, each with its description.
    var endpoints: [Endpoint] {
        let authentication = Authentication(identity: backends.identity, rateLimit: rateLimit)
        let answer = SessionAnswer(profile: backends.profile)
        let keySet = KeySetCache(identity: backends.identity)
        let credentials = ProviderCredentials(authentication: authentication, answer: answer)
        var endpoints = [
            SignInWithApple.endpoint(credentials),
            SignInWithGoogle.endpoint(credentials),
            SignInWithProvider.endpoint(credentials),
            RefreshSession.endpoint(backends.identity, answer),
            SignOut.endpoint(backends.identity),
            GetMe.endpoint(authentication, backends.profile),
            UpdateMe.endpoint(authentication, backends.profile),
            CreateGroup.endpoint(authentication, backends.profile, backends.invites),
            ListGroups.endpoint(authentication, backends.invites),
            AddMember.endpoint(authentication, backends.invites),
            ListMembers.endpoint(authentication, backends.invites),
            GetKeySet.endpoint(keySet),
            GetLiveness.endpoint(),
            GetReadiness.endpoint(ReadinessCache(backends.probes)),
        ]
        if let webSignIn {
            endpoints += [
                BeginAppleByWeb.endpoint(authentication, webSignIn),
                FinishAppleByWeb.endpoint(authentication, webSignIn),
            ]
        }
        endpoints += dialects.endpoints(
            DialectParts(backends: backends, authentication: authentication, keySet: keySet)
        )
        return endpoints + [GetDescription.endpoint(describing: endpoints.map(\.operation))]
    }

    /// What answers requests.
    ///
    /// - Parameters:
    ///   - log: takes one line a request; by default the logger.
    ///   - metrics: where requests are counted.
    func handler(
        _ configuration: RouteHandler.Configuration,
        logger: Logger,
        log: (any RequestLog)? = nil,
        metrics: MetricsRegistry = MetricsRegistry()
    ) -> RouteHandler {
        let dialects = dialects
        let hasPages = webSignIn != nil
        let routes = endpoints.map(\.route)
        let requests = RequestMetrics(routes: routes)
        let admission = rateLimit.admission(to: routes)
        metrics.add(requests)
        return RouteHandler(
            routes: routes,
            configuration: configuration,
            logger: logger,
            log: log ?? RequestLines(logger),
            problem: { Problem(answering: $0) },
            render: { problem, request in
                hasPages && request.uri.path == WebSignIn.callbackPath
                    ? FinishAppleByWeb.page(telling: problem) : dialects.response(to: request, telling: problem)
            },
            admit: admission,
            observe: { requests.count($0) }
        )
    }
}
