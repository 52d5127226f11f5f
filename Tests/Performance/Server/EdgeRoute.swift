import Connect
import GatewayService
import Glibc
import HTTP
import HTTPJSON
import HTTPTypes
import IdentityDomain
import JOSE
import Logging
import Models
import RPC
import RPCTransport
import ServiceKit

/// `GET /small`: all that a route of the gateway does, but for calls to services: it checks the caller's access token, whose
/// signature is known from before, and writes JSON, a line of the log, and metrics. Beside it Connect calls the router's methods.
struct EdgeRoute: HTTPHandler {
    private let connect: ConnectHandler
    private let routes: RouteHandler
    /// A token that the route takes.
    let token: String

    /// A route on a server of one loop.
    init(_ router: Router, _ loop: EventLoop) throws {
        let configuration = try Configuration(keys: SharedKeys.log, program: "gateway", environment: [:])
        let log = ServiceLog.bootstrap(label: "gateway", configuration: configuration)
        guard let refreshKeys = RefreshKeys([SecureRandom.bytes(RefreshKeys.keyByteCount)]) else {
            preconditionFailure("a key is no key")
        }
        let issuer = TokenIssuer(
            issuer: "https://id.example.com",
            audience: "vestibule",
            lifetimeSeconds: 86_400,
            signingKey: try .generateP256(),
            refreshKeys: refreshKeys
        )
        token = try issuer.accessToken(
            for: SessionFacts(
                userID: UserID(high: 1, low: 2),
                sessionID: SessionID(high: 3, low: 4),
                provider: .google,
                clientID: "com.example.app",
                signedInAtSeconds: Int64(time(nil)),
                proof: .nonce
            ),
            number: 0,
            tokenID: "0198c2a4-7b1e-7c3a-9d2f-5f3f6c1b2a3d",
            nowSeconds: Int64(time(nil))
        )
        let known = LoopBound(KnownTokens(), loop: loop)
        let answer: Route.ImmediateHandler = { request, _ in
            let token = try Authentication.requiredToken(request.headers)
            let claims: AccessClaims
            if let seen = known.value.cache.value(of: token) {
                claims = seen
            } else {
                claims = try issuer.verifiedAccessClaims(token)
                known.value.cache.insert(claims, for: token)
            }
            try claims.checkLifetime(nowSeconds: Int64(time(nil)))
            return .json { $0.add("message", Self.message) }
        }
        let route = Route(.get, "/small", atOnce: answer)
        let requests = RequestMetrics(routes: [route])
        connect = ConnectHandler(router)
        routes = RouteHandler(
            routes: [route],
            configuration: .init(),
            logger: log.logger,
            log: ServiceRequestLog(log.logger),
            observe: { requests.count($0) }
        )
    }

    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        connect.takes(exchange.head) ? connect.begin(exchange) : routes.begin(exchange)
    }

    /// A class, so that a change happens in place and not on a copy, as in identity.
    private final class KnownTokens {
        var cache = VerifiedTokenCache<AccessClaims>(capacity: 2_048)
    }

    private static let message = String(repeating: "s", count: 50)
}
