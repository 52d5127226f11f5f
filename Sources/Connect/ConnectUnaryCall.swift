import HTTP
import RPC
import RPCTransport
import Synchronization

/// A unary call of Connect: each body is a message, and an error is an HTTP status with JSON ("Unary (Request-Response) RPCs").
final class ConnectUnaryCall: ExchangeCall, @unchecked Sendable {
    // Safe for the same reason as its superclass.

    /// The fields of the response's head, except the content type.
    private struct Head {
        var metadata = Metadata()
        var hasMetadata = false
        var sendsGzip = false
        /// Whether the head was sent.
        var isOver = false
    }
    private let head = Mutex(Head())
    private var body: [UInt8] = []
    private let compression: Compression
    private var cameCompressed = false
    /// The query of a call by GET.
    private let query: GetQuery?

    init(_ request: borrowing Request, _ deadline: Deadline?, _ compression: Compression) {
        self.compression = compression
        query = request.query
        super.init(request, deadline)
    }

    override var isRequestCompressed: Bool { cameCompressed }

    // MARK: Request

    override func begin() {
        super.begin()
        if let query {
            start(query)
        } else if let length = exchange.head.contentLength, length > rules.messageBytesMax {
            refuse(Self.tooLarge)
        }
    }

    private func start(_ query: GetQuery) {
        guard let said = query.message else { return refuse(RPCError(.invalidArgument, "the query has no message")) }
        guard let message = query.isBase64 ? Base64.decode(said, .urlSafe) : said else {
            return refuse(RPCError(.invalidArgument, "the query's message is not base64"))
        }
        guard message.count <= rules.messageBytesMax else { return refuse(Self.tooLarge) }
        message.withUnsafeBytes { startMaybeInflating($0) }
    }

    override func receive(_ bytes: UnsafeRawBufferPointer) {
        // The whole body, as in most requests: it is read in place.
        let isWhole = body.isEmpty && bytes.count == exchange.head.contentLength
        guard exchange.consume(byteCount: bytes.count, keeps: !isWhole && !isStarted) else {
            return refuse(Self.holdsTooMuch)
        }
        guard !isStarted else { return }
        if isWhole { return startMaybeInflating(bytes) }
        guard body.count + bytes.count <= rules.messageBytesMax else {
            body = []
            return refuse(Self.tooLarge)
        }
        body.append(contentsOf: bytes)
    }

    override func receiveEnd(_ failure: HTTPBodyFailure?) {
        let body = self.body
        self.body = []
        guard !isStarted else { return }  // the body came in one piece
        guard let failure else { return body.withUnsafeBytes { startMaybeInflating($0) } }
        if let error = Self.error(of: failure) { refuse(error) } else { giveUp() }
    }

    /// Starts the handler with a body. An empty body is not inflated.
    func startMaybeInflating(_ bytes: UnsafeRawBufferPointer) {
        guard compression.isGzip, !bytes.isEmpty else { return start(bytes) }
        guard !isStarted else { return }
        do {
            cameCompressed = true
            let plain = try Gzip.inflate(bytes, byteCountMax: rules.messageBytesMax)
            plain.withUnsafeBytes { start($0) }
        } catch {
            refuse(RPCError(error.code == .internalError ? .invalidArgument : error.code, error.message))
        }
    }

    // MARK: Response

    override func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        guard !hasEnded else { throw .ended(self) }
        guard metadata.sendable == metadata else {
            throw RPCError(.internalError, "the metadata has an entry that may not be sent")
        }
        let isFirst = head.withLock { head in
            guard !head.hasMetadata, !head.isOver else { return false }
            head.hasMetadata = true
            head.metadata = metadata
            return true
        }
        if !isFirst { throw RPCError(.internalError, "the answer has begun already") }
    }

    override func compressResponses() async -> Bool {
        guard compression.acceptsGzip, !hasEnded else { return false }
        return head.withLock { head in
            guard !head.hasMetadata, !head.isOver else { return false }
            head.sendsGzip = true
            return true
        }
    }

    /// The final fields of the head.
    private func takeHead() -> Head {
        head.withLock { head in
            defer { head.isOver = true }
            return head
        }
    }

    private static let jsonType = Metadata(["content-type": "application/json"])
    private static let protoType = Metadata(["content-type": "application/proto"])

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        guard !hasEnded else { return }
        exchange.callEnded(.ok)
        let head = takeHead()
        var fields = format == .json ? Self.jsonType : Self.protoType
        var message = message
        if head.sendsGzip, let deflated = Gzip.deflate(message) {
            message = deflated
            fields.add("content-encoding", "gzip")
        }
        // For caches: the fields that the response depends on (RFC 9110 section 12.5.5).
        if query != nil { fields.add("vary", "accept-encoding") }
        append(head.metadata, trailers, to: &fields)
        message.withUnsafeBytes { exchange.respond(status: 200, fields: fields, body: $0) }
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        guard !hasEnded else { return }
        exchange.callEnded(error.code)
        var fields = Self.jsonType
        append(takeHead().metadata, trailers, to: &fields)
        if !error.metadata.isEmpty { fields.add(trailers: error.metadata) }
        rules.errors.error(error).withUnsafeBytes {
            exchange.respond(status: error.code.connectHTTPStatus, fields: fields, body: $0)
        }
    }

    private func append(_ metadata: Metadata, _ trailers: Metadata, to fields: inout Metadata) {
        if !addedFields.isEmpty { fields.add(contentsOf: addedFields) }
        if !metadata.isEmpty { fields.add(contentsOf: metadata) }
        if !trailers.isEmpty { fields.add(trailers: trailers) }
    }
}
