import AsyncHTTPClient
import Glibc
import JOSE
import NIOCore
import NIOHTTP1
import NIOPosix

/// JSON over HTTP to one base URL.
struct JSONClient: Sendable {
    private static let bodyBytesMax = 1 << 20
    private static let limits = JSONLimits(bytesMax: bodyBytesMax, depthMax: 16, valuesMax: 10_000)

    private let client: HTTPClient
    private let base: String
    private let timeout: TimeAmount

    init(_ client: HTTPClient, base: String, timeout: Duration) {
        self.client = client
        self.base = base
        self.timeout = .nanoseconds(Int64(clamping: Int(timeout / .nanoseconds(1))))
    }

    /// Sends a request; the answer's JSON if its status is 2xx, and no JSON where there is no body.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        accessToken: String? = nil,
        body: JSONObject? = nil
    ) async throws(CallFailure) -> JSONObject {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        if let accessToken { request.headers.add(name: "authorization", value: "Bearer \(accessToken)") }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body.serialized()))
        }
        let status: Int
        let json: JSONObject?
        do {
            let response = try await client.execute(request, timeout: timeout)
            let buffer = try await response.body.collect(upTo: Self.bodyBytesMax)
            status = Int(response.status.code)
            json =
                try? buffer.readableBytes == 0
                ? JSONObject() : JSONObject(parsing: buffer.readableBytesView, limits: Self.limits)
        } catch {
            throw CallFailure(httpError: error)
        }
        guard (200...299).contains(status) else {
            throw CallFailure(code: String(status), reason: json?["code"]?.string ?? "")
        }
        guard let json else { throw CallFailure(code: String(status), reason: "the answer is not JSON") }
        return json
    }
}

extension CallFailure {
    /// A request that was not answered.
    fileprivate init(httpError error: any Error) {
        switch error {
        case let error as HTTPClientError where error == .deadlineExceeded:
            self.init(code: "TIMEOUT", reason: "the request was not answered in time")
        case let error as HTTPClientError:
            self.init(code: "CONNECTION", reason: error.shortDescription)
        case is CancellationError:
            self.init(code: "CANCELLED", reason: "the run was ended")
        case let error as IOError:
            self.init(code: "CONNECTION", reason: error.errnoText)
        default:
            self.init(code: "CONNECTION", reason: "\(error)")
        }
    }
}

extension IOError {
    fileprivate var errnoText: String { String(cString: strerror(errnoCode)) }
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
