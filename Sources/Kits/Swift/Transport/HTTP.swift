import Foundation

/// A request of the kit's.
package struct HTTPRequest: Sendable {
    package var method = "POST"
    package var url: URL
    package var headers: [String: String] = [:]
    package var body = Data()
    /// How long nothing may come. How long the whole may take is the caller's to watch.
    package var silenceMax: Duration = .seconds(60)
}

/// A whole response. Names of header fields are in lower case.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: [String: String]
    package var body: Data

    package init(status: Int, headers: [String: String], body: Data) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// Why no whole response came.
package struct HTTPFailure: Error, Sendable {
    /// Whether the server can't have got the request, so that it may be repeated whatever it is.
    let wasNotSent: Bool
    let isTimeout: Bool
    /// Whether the response is longer than any of the server's.
    let isTooLong: Bool
    let message: String

    package init(wasNotSent: Bool, isTimeout: Bool, isTooLong: Bool = false, message: String) {
        self.wasNotSent = wasNotSent
        self.isTimeout = isTimeout
        self.isTooLong = isTooLong
        self.message = message
    }
}

/// What carries the kit's requests. URLSession does; tests may have another.
package protocol HTTPTransport: Sendable {
    /// Sends a request and returns its response, whose body comes in pieces. The request ends when the iterator of the pieces does. Redirects
    /// are not followed.
    ///
    /// - Throws: ``HTTPFailure``, or `CancellationError`; so do the pieces.
    func stream(_ request: HTTPRequest) async throws -> HTTPStream

    /// Ends all requests.
    func close()
}

extension HTTPTransport {
    /// Sends a request and waits for the whole response, whatever its status.
    ///
    /// - Throws: ``HTTPFailure``, or `CancellationError`.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await stream(request).response() }
}

/// A response whose body comes in pieces.
package struct HTTPStream: Sendable {
    /// The longest response that is taken: a page of 500 members has a tenth of it.
    private static let bodyBytesMax = 8 * 1024 * 1024

    package let status: Int
    package let headers: [String: String]
    package let pieces: AsyncThrowingStream<Data, any Error>
    /// Ends the request; the pieces end with `CancellationError`.
    package let cancel: @Sendable () -> Void

    package init(
        status: Int,
        headers: [String: String],
        pieces: AsyncThrowingStream<Data, any Error>,
        cancel: @escaping @Sendable () -> Void
    ) {
        (self.status, self.headers, self.pieces, self.cancel) = (status, headers, pieces, cancel)
    }
    /// The whole response.
    ///
    /// - Throws: ``HTTPFailure``, also for one that is too long; or `CancellationError`.
    func response() async throws -> HTTPResponse {
        var body = Data()
        for try await piece in pieces {
            guard body.count + piece.count <= Self.bodyBytesMax else {
                cancel()
                throw HTTPFailure(
                    wasNotSent: false,
                    isTimeout: false,
                    isTooLong: true,
                    message: "The response is too long."
                )
            }
            body += piece
        }
        try Task.checkCancellation()
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}
