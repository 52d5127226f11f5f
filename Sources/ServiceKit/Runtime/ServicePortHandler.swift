import Connect
import HTTP
import HTTPTypes
import RPC

/// What a service's port answers that is no gRPC: calls by Connect and gRPC-Web, and what browsers ask before web pages of the
/// listed origins call (CORS, WHATWG Fetch section 3.3). Everything else is 404.
final class ServicePortHandler: HTTPHandler {
    /// For how long a browser may keep the answer to a preflight, in seconds.
    private static let preflightSeconds = 600

    private let calls: ConnectHandler
    private let origins: Set<String>

    /// - Parameters:
    ///   - calls: answers calls.
    ///   - origins: those of the web pages that may call, compared byte by byte.
    init(calls: ConnectHandler, origins: Set<String>) {
        self.calls = calls
        self.origins = origins
    }

    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        let head = exchange.head
        var fields = Metadata()
        let origin = head.fields.first("origin").flatMap { origins.contains($0) ? $0 : nil }
        if !origins.isEmpty { fields.add("vary", "Origin") }
        if let origin {
            fields.add("access-control-allow-origin", origin)
            fields.add("access-control-expose-headers", CrossOriginNames.answerFields.joined(separator: ", "))
        }
        if head.fault == nil, head.method != .options { return calls.begin(exchange, adding: fields) }
        let isPreflight = origin != nil && head.fields.first("access-control-request-method") != nil
        if head.fault == nil, isPreflight { Self.addPreflight(to: &fields) }
        let status = head.fault?.status ?? (isPreflight ? 204 : 404)
        exchange.respond(status: status, fields: fields, body: UnsafeRawBufferPointer(start: nil, count: 0))
        exchange.handlerEnded()
        return nil
    }

    private static func addPreflight(to fields: inout Metadata) {
        fields.add("access-control-allow-methods", CrossOriginNames.methods.joined(separator: ", "))
        let requestFields = CrossOriginNames.requestFields + ["Authorization"]
        fields.add("access-control-allow-headers", requestFields.joined(separator: ", "))
        fields.add("access-control-max-age", "\(preflightSeconds)")
    }
}
