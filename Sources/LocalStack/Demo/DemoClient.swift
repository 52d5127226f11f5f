import AsyncHTTPClient
import JOSE
import NIOCore
import NIOHTTP1

/// JSON over HTTP as an app would speak it, for one base address.
struct DemoClient: Sendable {
    /// An answer.
    struct Answer: Sendable {
        let status: Int
        let json: JSONObject

        /// A text member; an error that names it if it's missing.
        func string(_ name: String) throws -> String {
            guard let value = json[name]?.string else { throw StackError("expected \"\(name)\" to be a text") }
            return value
        }
    }

    let base: String
    private static let limit: TimeAmount = .seconds(10)
    private static let bodyBytesMax = 1 << 20
    /// Lives as long as the process. A refused connection is told at once: the stack runs, or it doesn't.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST` or `PATCH`.
    ///   - path: from the root.
    ///   - accessToken: sent as bearer.
    ///   - body: sent as JSON.
    func send(
        _ method: String,
        _ path: String,
        accessToken: String? = nil,
        body: JSONObject? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = .RAW(value: method)
        if let accessToken { request.headers.add(name: "authorization", value: "Bearer \(accessToken)") }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body.serialized()))
        }
        let response: HTTPClientResponse
        let buffer: ByteBuffer
        do {
            response = try await Self.client.execute(request, timeout: Self.limit)
            buffer = try await response.body.collect(upTo: Self.bodyBytesMax)
        } catch {
            throw StackError("expected an answer to \(method) \(base)\(path), got \(error)")
        }
        let limits = JSONLimits(bytesMax: Self.bodyBytesMax, depthMax: 16, valuesMax: 10_000)
        let json =
            buffer.readableBytes == 0
            ? JSONObject() : try? JSONObject(parsing: buffer.readableBytesView, limits: limits)
        guard let json else { throw StackError("expected JSON from \(method) \(path)") }
        return Answer(status: Int(response.status.code), json: json)
    }

    /// Sends a request that must be answered with a status; otherwise an error that shows the problem's words.
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
                "expected \(method) \(path) to answer \(status), got \(answer.status) \(words.joined(separator: ": "))"
            )
        }
        return answer
    }
}
