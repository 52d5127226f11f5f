import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import Testing

@testable import GatewayService

/// A gateway over stub services, asked without sockets.
struct TestGateway {
    /// The description is the longest answer.
    private static let answerLimits = JSONLimits(bytesMax: 1 << 20, depthMax: 16, valuesMax: 100_000)

    let stubs = StubServices()
    let gateway: Gateway
    /// Long enough for a machine that is busy with other tests.
    var limits = HTTPLimits(requestTimeout: .seconds(60))

    /// The origins whose pages may call; nil for none.
    var crossOrigin: CrossOrigin?

    init(
        rateLimit: RateLimit.Policy = .init(),
        webSignIn: WebSignIn? = nil,
        signInPages: SignInPages? = nil,
        dialects: DialectSettings = .init(),
        associations: DomainAssociations = .init(),
        introspectionClients: IntrospectionClients? = nil,
        avatars: AvatarAddress = .init(),
        watchLimits: GroupWatches.Limits = .init(),
        nowSeconds: @escaping @Sendable () -> Int64 = { WatchClock.nowSeconds }
    ) {
        // Small tables: thousands of gateways are made.
        var rateLimit = rateLimit
        rateLimit.slotsPerRow = 1024
        let channel = stubs.channel
        gateway = Gateway(
            backends: Backends(identity: channel, profile: channel, invites: channel),
            rateLimit: rateLimit,
            webSignIn: webSignIn,
            signInPages: signInPages,
            dialects: dialects,
            introspectionClients: introspectionClients,
            associations: associations,
            avatars: avatars,
            watchLimits: watchLimits,
            // As long as requests may take here.
            readinessWait: .seconds(60),
            nowSeconds: nowSeconds
        )
    }

    /// What answers its requests.
    var handler: RouteHandler {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var configuration = RouteHandler.Configuration(limits: limits)
        configuration.crossOrigin = crossOrigin
        return gateway.handler(configuration, logger: logger)
    }

    /// Sends a request; `token` becomes the bearer token. It comes from no address unless one is given.
    func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ body: String? = nil,
        token: String? = nil,
        headers: HTTPFields = [:],
        from address: String? = nil
    ) async throws -> Answer {
        var headers = headers
        if body != nil { headers[.contentType] = "application/json" }
        if let token { headers[.authorization] = "Bearer \(token)" }
        let client = HandlerClient(handler, address: address ?? "in-process")
        let response = try await client.send(method, uri, headers: headers, body: Array((body ?? "").utf8))
        return Answer(
            status: response.status.code,
            headers: response.headers,
            body: response.body.isEmpty
                ? [:] : try JSONObject(parsing: response.body, limits: Self.answerLimits),
            type: response.headers[.contentType]
        )
    }

    /// As ``send(_:_:_:token:headers:)``, as a user with a live session.
    func sendAsUser(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> Answer {
        try await send(method, uri, body, token: StubServices.accessToken)
    }

    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: JSONObject
        let type: String?

        var code: String? { body["code"]?.string }
        var fields: [String?] { body["fields"]?.array?.map { $0.object?["field"]?.string } ?? [] }
    }
}
