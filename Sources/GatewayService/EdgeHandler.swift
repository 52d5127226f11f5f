import Connect
import HTTP
import HTTPJSON
import HTTPTypes
import RPC

/// What the gateway's port answers that is no gRPC: calls by Connect and gRPC-Web, and routes.
final class EdgeHandler: HTTPHandler {
    private let calls: ConnectHandler
    private let routes: RouteHandler

    /// - Parameters:
    ///   - calls: answers calls.
    ///   - routes: answers everything else, and what browsers ask before they call.
    init(calls: ConnectHandler, routes: RouteHandler) {
        self.calls = calls
        self.routes = routes
    }

    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        let head = exchange.head
        // Malformed HTTP and unknown methods get a problem response, whatever the protocol; and no call is made by
        // OPTIONS.
        guard head.fault == nil, head.method != .options, head.isMethodKnown, calls.takes(head) else {
            return routes.begin(exchange)
        }
        return calls.begin(exchange, adding: routes.fieldsOfCalls(head))
    }
}

extension GatewaySettings {
    /// The header fields that pages of other origins may send: ours, those of Connect and gRPC-Web, and those of the apps' SDKs.
    static let crossOriginFields =
        ["authorization", "dpop", "idempotency-key", "last-event-id", "x-request-id", "traceparent", "tracestate"]
        + CrossOriginNames.requestFields.map { $0.lowercased() } + [
            // supabase-js and WordPress' clients.
            "apikey", "x-client-info", "x-supabase-api-version", "x-wp-nonce",
        ]

    /// What pages may read of answers beside what they always may.
    static let crossOriginAnswerFields =
        ["x-request-id", "retry-after", "www-authenticate", "dpop-nonce", "trailer-x-request-id"]
        + CrossOriginNames.answerFields.map { $0.lowercased() }
}
