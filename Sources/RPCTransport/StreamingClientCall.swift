import CRPC
import RPC

/// A call with a stream of messages in at least one direction. Its writer may be on any executor.
final class StreamingClientCall: ClientCall, RequestSink, @unchecked Sendable {
    // Sound as its superclass: what comes from elsewhere goes to the loop first. The pipe has a lock of its own.

    private let loop: EventLoop
    /// The answer's messages. Made by the first look, which is before the hand-over.
    private(set) lazy var answer = MessagePipe { [weak self] byteCount in self?.consume(byteCount) }
    /// Who waits for the stream, or for room on it.
    private var waitingWriters = WriterQueue()
    private var hasFinishedRequest = false
    /// Whether messages are kept for another attempt: of a method that may be tried again and takes one message.
    private let keepsRequest: Bool
    /// What was sent and is kept.
    private var kept: [UInt8]?
    /// Whether something was sent that was not kept.
    private var hasSentUnkept = false

    override init(
        method: MethodDescriptor,
        metadata: Metadata,
        deadline: Deadline,
        waitsForReady: Bool,
        loop: EventLoop
    ) {
        self.loop = loop
        keepsRequest = method.kind == .serverStreaming && method.isIdempotent
        super.init(method: method, metadata: metadata, deadline: deadline, waitsForReady: waitsForReady, loop: loop)
    }

    // MARK: The stream

    override var canBeRepeated: Bool { !isCommitted && !hasSentUnkept }
    override func resetForRetry() {}

    override func opened(_ stream: OpaquePointer) {
        crpc_stream_consume_manually(stream)
        if let kept {
            let message = MessageBuffer(kept)
            guard crpc_stream_send_message(stream, message.release(), message.count, sendsGzip) == 0 else {
                return crpc_stream_reset(stream, HTTP2Error.internalError)  // the stream's end tells the call
            }
        }
        if hasFinishedRequest { crpc_stream_half_close(stream) }
        writable()
    }

    override func receive(_ message: UnsafeRawBufferPointer) {
        guard !isCompleted else { return }
        isCommitted = true
        kept = nil
        answer.deliver(.bytes(Array(message)))
    }

    override func receive(compressed message: UnsafeRawBufferPointer) {
        guard !isCompleted else { return }
        isCommitted = true
        kept = nil
        answer.deliver(.compressed(Gzip.message(message, byteCountMax: messageBytesMax)))
    }

    override func writable() { waitingWriters.resumeAll() }

    override func succeed() { complete(nil) }
    override func fail(_ error: RPCError) { complete(error) }

    private func complete(_ error: RPCError?) {
        guard !isCompleted else { return }
        isCompleted = true
        countEnd(error?.code ?? .ok)
        timer?.cancel()
        timer = nil
        responseMetadata?.receiveEnd()
        answer.end(error)
        writable()
    }

    private func consume(_ byteCount: Int) {
        if loop.isCurrent {
            if let stream { crpc_stream_consume(stream, byteCount) }
        } else {
            loop.execute { self.consume(byteCount) }
        }
    }

    // MARK: The request

    func send(_ message: MessageBuffer) async throws(RPCError) {
        while true {
            let outcome =
                loop.isCurrent
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

    /// The largest request that is kept for another attempt.
    private static var keptBytesMax: Int { 256 << 10 }

    private enum Queued { case sent, sentAndFull, noRoom, ended }

    private func queue(_ message: MessageBuffer) -> Queued {
        guard !isCompleted, !hasFinishedRequest else { return .ended }
        // There is none for a writer that stopped waiting and writes again: what is queued stays bounded.
        guard !mustWait, let stream else { return .noRoom }
        keep(message)
        guard crpc_stream_send_message(stream, message.release(), message.count, sendsGzip) == 0 else { return .ended }
        return crpc_stream_is_writable(stream) ? .sent : .sentAndFull
    }

    /// Whether there is no stream, or no room on it.
    private var mustWait: Bool { !isCompleted && stream.map { !crpc_stream_is_writable($0) } ?? true }

    /// Remembers a message for another attempt, if that can be: one message, and not too large.
    private func keep(_ message: MessageBuffer) {
        guard keepsRequest, kept == nil, !isCommitted, !hasSentUnkept, message.count <= Self.keptBytesMax else {
            kept = nil
            hasSentUnkept = true
            return
        }
        kept = message.withUnsafeBytes { Array($0) }
    }

    private func waitForRoom() async throws(RPCError) {
        try await WriterWait.run(on: loop) { [self] wait in
            if mustWait { waitingWriters.append(wait) } else { wait.resume() }
        }
    }

    func finishRequest() {
        guard loop.isCurrent else { return loop.execute { self.finishRequest() } }
        guard !hasFinishedRequest else { return }
        hasFinishedRequest = true
        if let stream { crpc_stream_half_close(stream) }
    }
}
