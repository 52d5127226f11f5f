import Foundation

/// The server's endpoints, each a request and a response. It keeps nothing, and tries nothing again.
struct Wire: Sendable {
    private static let json = "application/json"

    let url: URL
    let transport: any HTTPTransport
    /// `accept-language`.
    let languages: String

    /// Calls a method by Connect's protocol for unary calls.
    ///
    /// - Throws: ``CallFailure``, or `CancellationError`.
    func call(
        _ method: CallMethod,
        _ message: JSONObject,
        token: String?,
        timeout: Duration
    ) async throws -> JSONObject {
        var request = request("/\(method.path)", token: token)
        request.headers["content-type"] = Self.json
        request.headers["connect-protocol-version"] = "1"
        request.headers["connect-timeout-ms"] = String(timeout.milliseconds)
        request.body = message.serialized
        return try Self.object(of: try await successful(request, ErrorReader.error(ofCall:)))
    }

    /// Calls a method whose responses are a stream, with Connect's envelopes.
    ///
    /// - Parameter silenceMax: How long the stream may bring nothing.
    func stream(
        _ method: CallMethod,
        _ message: JSONObject,
        token: String,
        silenceMax: Duration
    ) async throws -> HTTPStream {
        var request = request("/\(method.path)", token: token)
        request.silenceMax = silenceMax
        request.headers["content-type"] = "application/connect+json"
        request.headers["connect-protocol-version"] = "1"
        request.body = Envelope.data(message.serialized)
        let stream = try await unlessLost { try await transport.stream(request) }
        guard stream.status == 200 else {
            throw Self.refusal(try await unlessLost { try await stream.response() }, ErrorReader.error(ofCall:))
        }
        return stream
    }

    /// Posts a form to an endpoint of OAuth's. An empty response is an empty object.
    func form(_ path: String, _ fields: [String: String]) async throws -> JSONObject {
        var request = request(path, token: nil)
        request.headers["content-type"] = "application/x-www-form-urlencoded"
        request.body = Data(FormText.text(fields).utf8)
        let response = try await successful(request, ErrorReader.error(ofForm:))
        return response.body.isEmpty ? JSONObject() : try Self.object(of: response)
    }

    /// Calls a route.
    func route(
        _ method: String,
        _ path: String,
        _ body: Data,
        type: String?,
        token: String
    ) async throws -> JSONObject {
        var request = request(path, token: token)
        request.method = method
        request.headers["content-type"] = type
        request.body = body
        let response = try await successful(request, ErrorReader.error(ofRoute:))
        return response.body.isEmpty ? JSONObject() : try Self.object(of: response)
    }

    private func request(_ path: String, token: String?) -> HTTPRequest {
        var request = HTTPRequest(url: URL(string: ServerURL.base(url) + path) ?? url)
        request.headers["accept"] = Self.json
        if !languages.isEmpty { request.headers["accept-language"] = languages }
        if let token { request.headers["authorization"] = "Bearer \(token)" }
        return request
    }

    private func successful(
        _ request: HTTPRequest,
        _ error: (HTTPResponse) -> VestibuleError
    ) async throws -> HTTPResponse {
        let response = try await unlessLost { try await transport.send(request) }
        guard 200..<300 ~= response.status else { throw Self.refusal(response, error) }
        return response
    }

    private func unlessLost<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let failure as HTTPFailure {
            throw CallFailure.lost(failure)
        }
    }

    private static func refusal(_ response: HTTPResponse, _ read: (HTTPResponse) -> VestibuleError) -> CallFailure {
        let error = read(response)
        // What the server writes has its content type; a page that happens to be JSON has none of its codes.
        let isOwn = error.code != .badResponse && !(error.code == .unavailable && error.action == .retry)
        return .refused(error, isOwn: isOwn)
    }

    private static func object(of response: HTTPResponse) throws -> JSONObject {
        do {
            return try JSONObject(parsing: response.body)
        } catch {
            throw CallFailure.refused(.badResponse(status: response.status), isOwn: false)
        }
    }
}

/// The text of a form (`application/x-www-form-urlencoded`).
enum FormText {
    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    static func text(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { name, value in "\(encoded(name))=\(encoded(value))" }
            .joined(separator: "&")
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
