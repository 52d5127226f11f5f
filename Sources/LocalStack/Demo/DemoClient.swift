import JOSE
import OutgoingHTTP

/// A client for JSON over HTTP, like an app's, for one base URL.
struct DemoClient: Sendable {
    /// A response.
    struct Answer: Sendable {
        let status: Int
        let json: JSONObject

        /// A string member; throws an error that names it if it is missing.
        func string(_ name: String) throws -> String {
            guard let value = json[name]?.string else { throw StackError("expected \"\(name)\" to be a string") }
            return value
        }
    }

    let http: HTTPSClient
    let base: String
    private static let limit: Duration = .seconds(10)
    private static let bodyBytesMax = 1 << 20

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST` or `PATCH`.
    ///   - path: the absolute path.
    ///   - accessToken: sent as a bearer token.
    ///   - body: sent as JSON.
    func send(
        _ method: String,
        _ path: String,
        accessToken: String? = nil,
        body: JSONObject? = nil
    ) async throws -> Answer {
        let request = OutgoingRequest(
            .other(method, body: body?.serialized()),
            base + path,
            headers: accessToken.map { [("authorization", "Bearer \($0)")] } ?? [],
            timeout: Self.limit,
            bodyBytesMax: Self.bodyBytesMax
        )
        let response: OutgoingResponse
        do {
            response = try await http.send(request)
        } catch {
            throw StackError("expected a response to \(method) \(base)\(path), got \(error)")
        }
        let limits = JSONLimits(bytesMax: Self.bodyBytesMax, depthMax: 16, valuesMax: 10_000)
        let json = try? response.body.isEmpty ? JSONObject() : JSONObject(parsing: response.body, limits: limits)
        guard let json else { throw StackError("expected JSON from \(method) \(path)") }
        return Answer(status: response.status, json: json)
    }

    /// Sends a request whose response must have this status; otherwise throws an error with the problem's text.
    func send(
        _ method: String,
        _ path: String,
        accessToken: String? = nil,
        body: JSONObject? = nil,
        expecting status: Int
    ) async throws -> Answer {
        let answer = try await send(method, path, accessToken: accessToken, body: body)
        guard answer.status == status else {
            let words = [answer.json["code"]?.string, answer.json["detail"]?.string].compactMap { $0 }
            throw StackError(
                "expected \(method) \(path) to return \(status), got \(answer.status) \(words.joined(separator: ": "))"
            )
        }
        return answer
    }
}
