import CRPC
import RPC

/// A call on an HTTP/2 stream, from its head until the stream has ended.
///
/// States: waiting for the request → handling → answered. The stream may end in each of them (the client reset it or
/// the connection broke), which cancels the handler; the deadline answers in its place. Once answered, or without a
/// stream, whatever the handler still says is dropped.
final class NetworkServerCall: ServerCall, @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only, which `respond` and `fail` check.

    private let handler: ServerMethod
    private let loop: EventLoop
    private var stream: OpaquePointer?
    private var task: Task<Void, Never>?
    private var isStarted = false
    private var isAnswered = false
    /// The request's message where it came before the end of the request, which is rare.
    private var early: [UInt8]?

    init(
        handler: ServerMethod,
        metadata: Metadata,
        deadline: Deadline?,
        peer: PeerInfo,
        loop: EventLoop,
        stream: OpaquePointer
    ) {
        self.handler = handler
        self.loop = loop
        self.stream = stream
        super.init(method: handler.descriptor, metadata: metadata, deadline: deadline, peer: peer)
    }

    // MARK: What arrives

    func receive(_ message: UnsafeRawBufferPointer, isLast: Bool) {
        if isStarted || early != nil {
            refuse(.internalError, "a unary call has one request message")
        } else if isLast {
            start(message)
        } else {
            early = Array(message)
        }
    }

    func receiveEnd() {
        guard !isStarted else { return }
        if let early {
            self.early = nil
            early.withUnsafeBytes { start($0) }
        } else {
            refuse(.internalError, "the request has no message")
        }
    }

    private func start(_ message: UnsafeRawBufferPointer) {
        isStarted = true
        handler.start(self, message: message)
    }

    func deadlinePassed() {
        refuse(.deadlineExceeded, "the deadline passed")
        task?.cancel()
    }

    func closed() {
        stream = nil
        early = nil
        if !isAnswered { task?.cancel() }
        task = nil
    }

    private func refuse(_ code: Status.Code, _ message: String) { fail(RPCError(code, message), trailers: Metadata()) }

    // MARK: What the handler does

    override var executor: (any TaskExecutor)? { loop }
    override var hasEnded: Bool { isAnswered || stream == nil }
    override func didStart(_ task: Task<Void, Never>) { self.task = task }

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        loop.preconditionIsCurrent()
        guard let stream, !isAnswered else { return }
        isAnswered = true
        task = nil
        // A failure resets the stream, whose end is reported as any other.
        guard crpc_stream_send_message(stream, message.release(), message.count, false) == 0 else {
            crpc_stream_reset(stream, HTTP2Error.internalError)
            return
        }
        finish(stream, Status.ok, details: [], trailers: trailers)
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        loop.preconditionIsCurrent()
        guard let stream, !isAnswered else { return }
        isAnswered = true
        task = error.code == .deadlineExceeded ? task : nil
        var all = trailers
        all.add(contentsOf: error.metadata)
        finish(stream, Status(error.code, error.message), details: error.statusDetails, trailers: all)
    }

    private func finish(_ stream: OpaquePointer, _ status: Status, details: [UInt8], trailers: Metadata) {
        guard status.code != .ok || !trailers.isEmpty else {
            var plain = crpc_status()
            crpc_stream_finish(stream, &plain)
            return
        }
        var text = status.message
        text.withUTF8 { text in
            details.withUnsafeBufferPointer { details in
                trailers.packed.withUnsafeBufferPointer { trailers in
                    var raw = crpc_status(
                        code: Int32(status.code.rawValue),
                        message: text.baseAddress,
                        message_length: text.count,
                        details: details.baseAddress,
                        details_length: details.count,
                        metadata: trailers.baseAddress,
                        metadata_length: trailers.count
                    )
                    crpc_stream_finish(stream, &raw)
                }
            }
        }
    }
}

/// Error codes of RFC 9113 section 7 that this side sends.
enum HTTP2Error {
    static let internalError: UInt32 = 2
    static let cancel: UInt32 = 8
}
