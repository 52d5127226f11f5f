import JOSE
import OutgoingHTTP

/// JSON over HTTP to one base URL.
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

    /// Sends a request; the answer's JSON if its status is 2xx, and no JSON where there is no body.
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
        guard let json else { throw CallFailure(code: String(response.status), reason: "the answer is not JSON") }
        return json
    }
}

extension CallFailure {
    /// A request that was not answered.
    fileprivate init(_ error: OutgoingHTTPError) {
        switch error.cause {
        case .timeout: self.init(code: "TIMEOUT", reason: "the request was not answered in time")
        case .cancelled: self.init(code: "CANCELLED", reason: "the run was ended")
        case .connection(let text): self.init(code: "CONNECTION", reason: text)
        case .url, .overloaded, .bodyTooLarge, .addressNotPublic:
            self.init(code: "CONNECTION", reason: error.description)
        }
    }
}

extension JSONObject {
    /// A text member; a failure that names it if it is missing.
    func text(_ name: String) throws(CallFailure) -> String {
        guard let text = self[name]?.string else {
            throw CallFailure(code: "ANSWER", reason: "the answer has no \(name)")
        }
        return text
    }
}
