import HTTPJSON
import Logging
import ServiceKit

/// The edge between phones and services: every route, over three channels.
struct Gateway: Sendable {
    let backends: Backends
    let rateLimit: RateLimit

    /// A gateway to services.
    init(backends: Backends, rateLimit: RateLimit.Policy = .init()) {
        self.backends = backends
        self.rateLimit = RateLimit(rateLimit)
    }

    /// Every route that exists; ``OpenAPI`` describes exactly these.
    var routes: [Route] {
        let authentication = Authentication(identity: backends.identity, rateLimit: rateLimit)
        let answer = SessionAnswer(profile: backends.profile)
        return [
            SignInWithApple.route(backends.identity, answer),
            SignInWithGoogle.route(backends.identity, answer),
            RefreshSession.route(backends.identity, answer),
            SignOut.route(backends.identity),
            GetMe.route(authentication, backends.profile),
            UpdateMe.route(authentication, backends.profile),
            CreateGroup.route(authentication, backends.profile, backends.invites),
            ListGroups.route(authentication, backends.invites),
            AddMember.route(authentication, backends.invites),
            ListMembers.route(authentication, backends.invites),
            KeySetRoute.route(KeySetCache(identity: backends.identity)),
            Liveness.route(),
            Readiness.route(ReadinessCache(backends.probes)),
            DescriptionRoute.route(),
        ]
    }

    /// The HTTP server.
    ///
    /// - Parameter metrics: where requests are counted.
    func server(
        _ configuration: EdgeServer.Configuration,
        logger: Logger,
        metrics: MetricsRegistry = MetricsRegistry()
    ) -> EdgeServer {
        let rateLimit = rateLimit
        let routes = routes
        let requests = RequestMetrics(routes: routes)
        metrics.add(requests)
        return EdgeServer(
            routes: routes,
            configuration: configuration,
            logger: logger,
            problem: { Problem(answering: $0) },
            admit: { try rateLimit.admit($0, $1) },
            observe: { requests.count($0) }
        )
    }
}
