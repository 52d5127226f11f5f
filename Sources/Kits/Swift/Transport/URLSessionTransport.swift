import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests by URLSession, without cookies, caches and redirects.
final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let delegate = TransportDelegate()

    init() { session = Self.session(delegate) }

    private static func session(_ delegate: TransportDelegate) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // One for a stream, the others for calls.
        configuration.httpMaximumConnectionsPerHost = 6
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// The session keeps its delegate until this.
    deinit { session.invalidateAndCancel() }

    func close() { delegate.cancelAll() }

    func stream(_ request: HTTPRequest) async throws -> HTTPStream {
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.timeoutInterval = request.silenceMax.seconds
        urlRequest.httpShouldHandleCookies = false
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        urlRequest.httpBody = request.body.isEmpty ? nil : request.body
        #if canImport(FoundationNetworking)
        // A session for each request, and so a connection. Foundation of Linux (6.3) waits forever where a kept connection ends before
        // the response to a POST: libcurl sends the request again, and gets no body for it.
        let session = Self.session(delegate)
        defer { session.finishTasksAndInvalidate() }
        #endif
        let task = session.dataTask(with: urlRequest)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                delegate.begin(task, continuation)
            }
        } onCancel: {
            delegate.cancel(task)
        }
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    /// At least 1.
    var milliseconds: Int64 { Swift.max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000) }
}
