import JOSE
import OutgoingHTTP

/// A client for JSON over HTTP to one base URL.
struct JSONClient: Sendable {
    private static let bodyBytesMax = 1 << 20
    private static let limits = JSONLimits(bytesMax: bodyBytesMax, depthMax: 16, valuesMax: 10_000)

    private let client: HTTPSClient
    private let base: String
    private let timeout: Duration

    init(_ client: HTTPSClient, base: String, timeout: Duration) {
        self.client = client
        self.base = base
        self.timeout = timeout
    }

    /// Sends a request; returns the JSON of a response with status 2xx, or nil if its body is empty.
    func send(
        _ method: String,
        _ path: String,
        accessToken: String? = nil,
        body: JSONObject? = nil
    ) async throws(CallFailure) -> JSONObject {
        let request = OutgoingRequest(
            .other(method, body: body?.serialized()),
            base + path,
            headers: accessToken.map { [("authorization", "Bearer \($0)")] } ?? [],
            timeout: timeout,
            bodyBytesMax: Self.bodyBytesMax
        )
        let response: OutgoingResponse
        do throws(OutgoingHTTPError) {
            response = try await client.send(request)
        } catch {
            throw CallFailure(error)
        }
        let json =
            try? response.body.isEmpty ? JSONObject() : JSONObject(parsing: response.body, limits: Self.limits)
        guard (200...299).contains(response.status) else {
            throw CallFailure(code: String(response.status), reason: json?["code"]?.string ?? "")
        }
        guard let json else { throw CallFailure(code: String(response.status), reason: "the response is not JSON") }
        return json
    }
}

extension CallFailure {
    /// A request without a response.
    fileprivate init(_ error: OutgoingHTTPError) {
        switch error.cause {
        case .timeout: self.init(code: "TIMEOUT", reason: "no response in time")
        case .cancelled: self.init(code: "CANCELLED", reason: "the run was ended")
        case .connection(let text): self.init(code: "CONNECTION", reason: text)
        case .url, .overloaded, .bodyTooLarge, .addressNotPublic:
            self.init(code: "CONNECTION", reason: error.description)
        }
    }
}

extension JSONObject {
    /// A string member; throws a failure that names it if it is missing.
    func text(_ name: String) throws(CallFailure) -> String {
        guard let text = self[name]?.string else {
            throw CallFailure(code: "ANSWER", reason: "the response has no \(name)")
        }
        return text
    }
}
