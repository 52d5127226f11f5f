import CRPC
import RPC

/// A call on an HTTP/2 stream, from its head until the stream has ended.
///
/// States: waiting for the request (where it is one message) → handling → answered. The stream may end in each of them
/// (the client reset it or the connection broke), which cancels the handler; the deadline answers in its place. Once
/// answered, or without a stream, whatever the handler still says is dropped.
final class NetworkServerCall: ServerCall, @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only, which `respond` and `fail` check.

    private let handler: MethodHandler
    private let loop: EventLoop
    private var stream: OpaquePointer?
    private var task: Task<Void, Never>?
    private let messageBytesMax: Int
    /// Where to say that the handler has ended; nil once that was said.
    private var handlers: OpaquePointer?
    private var hasHandler = false
    private var inFlight: CallInFlight?
    private var isStarted = false
    private var sendsGzip = false
    /// Written before the handler starts.
    private var cameCompressed = false
    private var isAnswered = false
    /// The request's message where it came before the end of the request, which is rare.
    private var early: [UInt8]?
    /// What takes the messages of a streaming request.
    private var receiver: (any MessageReceiver)?
    /// Who waits to send more.
    private var waitingWriters = WriterQueue()

    init(
        handler: MethodHandler,
        metadata: Metadata,
        deadline: Deadline?,
        peer: PeerInfo,
        loop: EventLoop,
        messageBytesMax: Int,
        stream: OpaquePointer,
        handlers: OpaquePointer?
    ) {
        self.handler = handler
        self.loop = loop
        self.messageBytesMax = messageBytesMax
        self.stream = stream
        self.handlers = handlers
        super.init(method: handler.descriptor, metadata: metadata, deadline: deadline, peer: peer)
    }

    // MARK: What arrives

    /// Starts the handler of a streaming request, which needs no message for that.
    func begin() {
        guard !handler.takesOneRequest, let stream else { return }
        isStarted = true
        hasHandler = true
        crpc_stream_consume_manually(stream)
        receiver = handler.begin(self)
    }

    func receive(_ message: UnsafeRawBufferPointer, isLast: Bool) {
        if let receiver {
            receiver.receive(message)
            if isLast { receiver.receiveEnd(nil) }
        } else if isStarted || early != nil {
            refuse(.internalError, "a unary call has one request message")
        } else if isLast {
            start(message)
        } else if let stream, !isAnswered, crpc_stream_keep(stream, message.count) == 0 {
            early = Array(message)
        }
    }

    /// A compressed message. Where the request is one message it is inflated at once; of a stream when it is read.
    func receive(compressed message: UnsafeRawBufferPointer, isLast: Bool) {
        if let receiver {
            receiver.receive(compressed: Gzip.message(message, byteCountMax: messageBytesMax))
            if isLast { receiver.receiveEnd(nil) }
            return
        }
        do {
            if !isStarted { cameCompressed = true }
            let plain = try Gzip.inflate(message, byteCountMax: messageBytesMax)
            // The layer counts what came, which may be a thousandth of it.
            guard let stream, !isAnswered, !isLast || crpc_stream_keep(stream, plain.count) == 0 else { return }
            plain.withUnsafeBytes { receive($0, isLast: isLast) }
        } catch {
            isStarted = true  // nothing else of the request matters
            fail(error, trailers: Metadata())
        }
    }

    func receiveEnd() {
        receiver?.receiveEnd(nil)
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
        hasHandler = true
        handler.start(self, message: message)
    }

    func deadlinePassed() {
        let error = RPCError(.deadlineExceeded, "the deadline passed")
        let task = task
        fail(error, trailers: Metadata())
        receiver?.receiveEnd(error)
        task?.cancel()
    }

    func closed() {
        stream = nil
        early = nil
        receiver?.receiveEnd(RPCError(.cancelled, "the caller ended the call"))
        receiver = nil
        resumeWriters()
        if !isAnswered { task?.cancel() }
        task = nil
        if !hasHandler { handlerEnded() }
    }

    /// There is room for more, or there never will be.
    func resumeWriters() { waitingWriters.resumeAll() }

    private func refuse(_ code: Status.Code, _ message: String) { fail(RPCError(code, message), trailers: Metadata()) }

    // MARK: What the handler does

    override var executor: (any TaskExecutor)? { loop }
    override var hasEnded: Bool { isAnswered || stream == nil }
    override var isRequestCompressed: Bool { cameCompressed }

    override func compressResponses() async -> Bool {
        if loop.isCurrent { return startGzip() }
        return await withUnsafeContinuation { continuation in
            loop.execute { continuation.resume(returning: self.startGzip()) }
        }
    }

    private func startGzip() -> Bool {
        guard let stream, !isAnswered else { return false }
        if !sendsGzip { sendsGzip = crpc_stream_set_gzip(stream) == 0 }
        return sendsGzip
    }

    override func handlerBegan() { inFlight = CallInFlight(self) }

    override func setRequestID(_ id: String) { inFlight?.setRequestID(id) }

    override func handlerEnded() {
        loop.preconditionIsCurrent()
        inFlight?.end()
        inFlight = nil
        guard let handlers else { return }
        self.handlers = nil
        crpc_handler_ended(handlers)
    }

    override func didStart(_ task: Task<Void, Never>) { self.task = task }

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        loop.preconditionIsCurrent()
        guard let stream, !isAnswered else { return }
        isAnswered = true
        task = nil
        // A failure resets the stream, whose end is reported as any other.
        let code = crpc_stream_send_message(stream, message.release(), message.count, sendsGzip)
        guard code == 0 else {
            // At a limit the layer has ended the call with RESOURCE_EXHAUSTED itself.
            if code != CRPC_ERROR_LIMIT.rawValue { crpc_stream_reset(stream, HTTP2Error.internalError) }
            return
        }
        finish(stream, Status.ok, details: [], trailers: trailers)
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        loop.preconditionIsCurrent()
        guard let stream, !isAnswered else { return }
        isAnswered = true
        task = nil
        resumeWriters()
        var all = trailers
        all.add(contentsOf: error.metadata)
        finish(stream, Status(error.code, error.message), details: error.statusDetails, trailers: all)
    }

    override func finish(trailers: Metadata) {
        loop.preconditionIsCurrent()
        guard let stream, !isAnswered else { return }
        isAnswered = true
        task = nil
        finish(stream, Status.ok, details: [], trailers: trailers)
    }

    override func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        let outcome =
            loop.isCurrent
            ? sendHead(metadata)
            : await withUnsafeContinuation { continuation in
                loop.execute { continuation.resume(returning: self.sendHead(metadata)) }
            }
        try outcome.get()
    }

    private func sendHead(_ metadata: Metadata) -> Result<Void, RPCError> {
        guard let stream, !isAnswered else { return .failure(RPCError(.cancelled, "the call has ended")) }
        let code = metadata.packed.withUnsafeBufferPointer {
            crpc_stream_send_headers(stream, $0.baseAddress, $0.count)
        }
        switch code {
        case 0: return .success(())
        case CRPC_ERROR_CLOSED.rawValue: return .failure(RPCError(.internalError, "the answer has begun already"))
        case CRPC_ERROR_ARGUMENT.rawValue:
            return .failure(RPCError(.internalError, "the metadata has an entry that may not be sent, or is too large"))
        default: return .failure(RPCError(.resourceExhausted, "out of memory"))
        }
    }

    override func send(_ message: MessageBuffer) async throws(RPCError) {
        while true {
            let outcome =
                loop.isCurrent  // nothing suspends while there is room
                ? queue(message)
                : await withUnsafeContinuation { continuation in
                    loop.execute { continuation.resume(returning: self.queue(message)) }
                }
            switch outcome {
            case .sent: return
            case .sentAndFull: return try await waitForRoom()
            case .noRoom: try await waitForRoom()
            case .ended: throw .ended(self)
            }
        }
    }

    private enum Queued { case sent, sentAndFull, noRoom, ended }

    private func queue(_ message: MessageBuffer) -> Queued {
        guard let stream, !isAnswered else { return .ended }
        // There is none for a writer that stopped waiting and writes again: what is queued stays bounded.
        guard crpc_stream_is_writable(stream) else { return .noRoom }
        guard crpc_stream_send_message(stream, message.release(), message.count, sendsGzip) == 0 else { return .ended }
        return crpc_stream_is_writable(stream) ? .sent : .sentAndFull
    }

    private func waitForRoom() async throws(RPCError) {
        try await WriterWait.run(on: loop) { [self] wait in
            if let stream, !isAnswered, !crpc_stream_is_writable(stream) {
                waitingWriters.append(wait)
            } else {
                wait.resume()
            }
        }
    }

    override func consume(byteCount: Int) {
        if loop.isCurrent {
            if let stream { crpc_stream_consume(stream, byteCount) }
        } else {
            loop.execute { self.consume(byteCount: byteCount) }
        }
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
