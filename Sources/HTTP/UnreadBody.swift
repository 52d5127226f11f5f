/// Drops the body of a request that is rejected by its head, and responds at its end, or when more than a maximum has arrived.
///
/// A response may be complete before its request (RFC 9113 section 8.1); then the server asks the client to stop. But some clients,
/// such as curl 7, report that as an error and never show the response if they still have a body to send.
public final class UnreadBody: HTTPBodyReceiver, @unchecked Sendable {
    // Safe because it is called only on the exchange's executor.

    /// The maximum of bytes that are read before the response.
    public static let byteCountMax = 65_536

    private let exchange: HTTPExchange
    private var byteCount = 0
    private var answer: (() -> Void)?

    /// Calls `answer` once, on the exchange's executor. `answer` must call `handlerEnded`.
    public init(_ exchange: HTTPExchange, answer: @escaping () -> Void) {
        self.exchange = exchange
        self.answer = answer
    }

    private func finish() {
        let answer = answer
        self.answer = nil
        answer?()
    }

    /// Drops bytes.
    public func receive(_ bytes: UnsafeRawBufferPointer) {
        exchange.consume(byteCount: bytes.count, keeps: false)
        byteCount += bytes.count
        if byteCount > Self.byteCountMax { finish() }
    }

    /// Responds, even if the body is incomplete.
    public func receiveEnd(_ failure: HTTPBodyFailure?) { finish() }

    /// Responds without waiting for the rest.
    public func deadlinePassed() { finish() }
}
