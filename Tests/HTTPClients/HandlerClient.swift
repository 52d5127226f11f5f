import HTTP
import HTTPTypes
import RPC

/// Asks a handler in this process, without sockets.
public struct HandlerClient: Sendable {
    private let handler: any HTTPHandler
    private let peer: PeerInfo

    /// A client of a handler, at an address such as `127.0.0.1:4711`; by default it has none.
    public init(_ handler: some HTTPHandler, address: String = "in-process") {
        self.handler = handler
        peer = PeerInfo(address: address)
    }

    /// An answer.
    public struct Answer: Sendable {
        /// The status.
        public let status: HTTPResponse.Status
        /// The fields that the handler gave.
        public let headers: HTTPFields
        /// The body.
        public let body: [UInt8]
        /// Whether the handler made it the last of its connection.
        public let closesConnection: Bool

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The handler let the exchange end without an answer.
    public struct NoAnswer: Error {}

    /// Sends a request. Throws `NoAnswer` if the handler drops it.
    public func send(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: [UInt8] = []
    ) async throws -> Answer {
        var fields = Metadata()
        for field in headers { fields.add(field.name.canonicalName, field.value) }
        let head = HTTPRequestHead(
            method: method,
            target: target,
            authority: "example.org",
            fields: fields,
            contentLength: body.isEmpty ? nil : body.count,
            hasBody: !body.isEmpty
        )
        guard let answer = await answer(to: head, body) else { throw NoAnswer() }
        return answer
    }

    /// Sends a request as a transport would tell it. Nil if the handler drops it.
    public func answer(to head: HTTPRequestHead, _ body: [UInt8] = []) async -> Answer? {
        await Self.answer(of: handler, to: head, body, peer).map { answer in
            var headers = HTTPFields()
            for (name, value) in answer.fields {
                guard let name = HTTPField.Name(name) else { continue }
                headers.append(HTTPField(name: name, value: value))
            }
            return Answer(
                status: .init(code: answer.status),
                headers: headers,
                body: head.method == .head ? [] : answer.body,
                closesConnection: answer.closesConnection
            )
        }
    }

    private static func answer(
        of handler: some HTTPHandler,
        to head: HTTPRequestHead,
        _ body: [UInt8],
        _ peer: PeerInfo
    ) async -> HTTPAnswer? {
        await InProcessExchange.answer(of: handler, to: head, body: body, peer: peer)
    }
}
