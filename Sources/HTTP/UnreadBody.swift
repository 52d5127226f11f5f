/// Takes the body of a request that is refused by its head: drops it, and answers when it is there, or when more came than anybody
/// who reads on would bear.
///
/// An answer may be complete before its request is (RFC 9113 section 8.1), and then the client is told to stop. But some, curl
/// 7 among them, report that as a failure of their own and never show the answer, if they were still about to send a body.
public final class UnreadBody: HTTPBodyReceiver, @unchecked Sendable {
    // Sound because it is called where its exchange runs only.

    /// Bytes that are read before the answer.
    public static let byteCountMax = 65_536

    private let exchange: HTTPExchange
    private var byteCount = 0
    private var answer: (() -> Void)?

    /// Calls `answer` once, where the exchange runs. It owes `handlerEnded`.
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

    /// Answers, however it ended.
    public func receiveEnd(_ failure: HTTPBodyFailure?) { finish() }

    /// Answers; nothing else is waited for.
    public func deadlinePassed() { finish() }
}
