import HTTPJSON
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JOSE
import Logging
import NIOCore
import Testing

@testable import GatewayService

/// A gateway over stub services, asked without sockets.
struct TestGateway {
    let stubs = StubServices()
    let gateway: Gateway
    /// Long enough for a machine that is busy with other tests.
    var limits = HTTPLimits(requestTimeout: .seconds(60))

    /// The origins whose pages may call; nil for none.
    var crossOrigin: CrossOrigin?

    init(
        rateLimit: RateLimit.Policy = .init(),
        webSignIn: WebSignIn? = nil,
        dialects: DialectSettings = .init()
    ) {
        // Small tables: thousands of gateways are made.
        var rateLimit = rateLimit
        rateLimit.slotsPerRow = 1024
        let channel = stubs.channel
        gateway = Gateway(
            backends: Backends(identity: channel, profile: channel, invites: channel),
            rateLimit: rateLimit,
            webSignIn: webSignIn,
            dialects: dialects
        )
    }

    /// The server over it.
    var server: HTTPServer {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var configuration = HTTPServer.Configuration(host: "127.0.0.1", port: 0, limits: limits)
        configuration.crossOrigin = crossOrigin
        return gateway.server(configuration, logger: logger)
    }

    /// Sends a request; `token` becomes the bearer token. By a socket it comes from 127.0.0.1, otherwise from no address.
    func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ body: String? = nil,
        token: String? = nil,
        headers: HTTPFields = [:],
        bySocket: Bool = false
    ) async throws -> Answer {
        var headers = headers
        if body != nil { headers[.contentType] = "application/json" }
        if let token { headers[.authorization] = "Bearer \(token)" }
        let sent = headers
        let response = try await server.application().test(bySocket ? .live : .router) { client in
            try await client.execute(uri: uri, method: method, headers: sent, body: body.map { ByteBuffer(string: $0) })
        }
        let bytes = Array(response.body.readableBytesView)
        return Answer(
            status: response.status.code,
            headers: response.headers,
            body: bytes.isEmpty ? [:] : try JSONObject(parsing: bytes, limits: JSONLimits(depthMax: 16)),
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
