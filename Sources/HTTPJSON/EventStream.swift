import HTTP
import HTTPTypes
import RPC

/// The answer of a route that goes on: server-sent events (WHATWG HTML section 9.2), written as they come.
public struct EventStream: Sendable {
    /// The type of such answers.
    static let contentType = "text/event-stream"

    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// Sends an event, and waits while the client has not taken enough of those before.
    ///
    /// - Parameters:
    ///   - data: what it says; may have several lines.
    ///   - event: its type, one line; `message` by default.
    ///   - id: what the client sends as Last-Event-ID when it comes back, one line.
    /// - Throws: CANCELLED once the client is gone.
    public func send(_ data: String, event: String? = nil, id: String? = nil) async throws(RPCError) {
        var bytes: [UInt8] = []
        if let event { Self.append("event", event, to: &bytes) }
        if let id { Self.append("id", id, to: &bytes) }
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: Self.endsLine) {
            Self.append("data", line, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        try await exchange.send(MessageBuffer(bytes))
    }

    /// Sends what clients pass over, so that no proxy takes a quiet stream for a dead one.
    ///
    /// - Throws: CANCELLED once the client is gone.
    public func sendComment() async throws(RPCError) {
        try await exchange.send(MessageBuffer(":\n\n".utf8))
    }

    /// Whether a line of a stream ends here (section 9.2.5). No other character does, whatever Unicode has it mean.
    private static func endsLine(_ character: Character) -> Bool {
        character == "\n" || character == "\r" || character == "\r\n"
    }

    /// Appends a line. Line ends of a value are left out: they would end it.
    private static func append(_ name: StaticString, _ value: some StringProtocol, to bytes: inout [UInt8]) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: ": ".utf8)
        bytes.append(contentsOf: value.utf8.lazy.filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 })
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension Response {
    /// An answer of events, which lasts until `body` returns or the client goes. What `body` throws ends it without its end, so
    /// that the client comes back.
    public static func events(_ body: @escaping @Sendable (EventStream) async throws -> Void) -> Response {
        Response(status: .ok, body: ResponseBody(stream: body), contentType: EventStream.contentType)
    }
}
