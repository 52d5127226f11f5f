import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes what URLSession reports to the tasks that wait for it. Each callback is for one task of URLSession and comes on one queue.
final class TransportDelegate: NSObject, URLSessionDataDelegate {
    typealias Waiter = CheckedContinuation<HTTPStream, any Error>

    /// How many pieces may wait for their reader. A reader that lets more wait loses the connection.
    private static let waitingMax = 1024
    /// URLSession's own pieces have any length.
    private static let pieceBytesMax = 16 * 1024

    /// A request in flight: first it waits for the response, then for its body.
    private enum Exchange {
        case waiting(Waiter)
        case reading(AsyncThrowingStream<Data, any Error>.Continuation)
    }

    // Guarded by `lock`, too.
    nonisolated(unsafe) private var tasks: [ObjectIdentifier: URLSessionTask] = [:]

    private let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private var exchanges: [ObjectIdentifier: Exchange] = [:]

    /// Starts a task, whose response `waiter` gets.
    func begin(_ task: URLSessionDataTask, _ waiter: Waiter) {
        lock.withLock {
            exchanges[ObjectIdentifier(task)] = .waiting(waiter)
            tasks[ObjectIdentifier(task)] = task
        }
        task.resume()
        // URLSession reports nothing of a task that was cancelled before it was resumed.
        if Task.isCancelled { cancel(task) }
    }

    /// Ends a request.
    func cancel(_ task: URLSessionTask) {
        let waiter = lock.withLock { () -> Waiter? in
            guard case .waiting(let waiter) = exchanges[ObjectIdentifier(task)] else { return nil }
            exchanges[ObjectIdentifier(task)] = nil
            tasks[ObjectIdentifier(task)] = nil
            return waiter
        }
        task.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    /// Ends all requests.
    func cancelAll() {
        for task in lock.withLock({ Array(tasks.values) }) { cancel(task) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        answer(dataTask, response)
        completionHandler(.allow)
    }

    private func answer(_ task: URLSessionDataTask, _ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.waitingMax)
        )
        let waiter = lock.withLock { () -> Waiter? in
            guard case .waiting(let waiter) = exchanges[ObjectIdentifier(task)] else { return nil }
            exchanges[ObjectIdentifier(task)] = .reading(continuation)
            return waiter
        }
        guard let waiter else { return }
        continuation.onTermination = { _ in task.cancel() }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[name.lowercased()] = value
        }
        waiter.resume(
            returning: HTTPStream(status: response.statusCode, headers: headers, pieces: pieces) { task.cancel() }
        )
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard case .reading(let continuation) = lock.withLock({ exchanges[ObjectIdentifier(dataTask)] }) else { return }
        var rest = data[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceBytesMax)
            rest = rest.dropFirst(piece.count)
            guard case .dropped = continuation.yield(Data(piece)) else { continue }
            return continuation.finish(
                throwing: HTTPFailure(wasNotSent: false, isTimeout: false, message: "The stream is not read.")
            )
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = lock.withLock {
            tasks[ObjectIdentifier(task)] = nil
            return exchanges.removeValue(forKey: ObjectIdentifier(task))
        }
        switch exchange {
        case .waiting(let waiter):
            waiter.resume(throwing: error.map(Self.failure) ?? HTTPFailure.ended)
        case .reading(let continuation):
            continuation.finish(throwing: error.map(Self.failure))
        case nil: break
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The API redirects nobody: it is a portal's, which is no answer of the server.
        if let task = task as? URLSessionDataTask { answer(task, response) }
        completionHandler(nil)
    }

    private static func failure(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return HTTPFailure.ended }
        let notSent: Set<URLError.Code> = [
            .badURL, .unsupportedURL, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
            .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .internationalRoamingOff, .dataNotAllowed,
            .callIsActive,
        ]
        if error.code == .cancelled { return CancellationError() }
        return HTTPFailure(
            wasNotSent: notSent.contains(error.code),
            isTimeout: error.code == .timedOut,
            message: "No response came (URLError \(error.code.rawValue))."
        )
    }
}

extension HTTPFailure {
    fileprivate static let ended = HTTPFailure(wasNotSent: false, isTimeout: false, message: "The connection ended.")
}
