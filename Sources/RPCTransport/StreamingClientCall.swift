import CRPC
import RPC
import SwiftProtobuf

/// A call with a stream of messages in at least one direction. Its writer may be on any executor.
final class StreamingClientCall<Response: SwiftProtobuf.Message>: ClientCall, RequestSink, @unchecked Sendable {
    // Sound as its superclass: what comes from elsewhere goes to the loop first. The pipe has a lock of its own.

    private let loop: EventLoop
    /// The answer's messages. Made by the first look, which is before the hand-over.
    private(set) lazy var answer = MessagePipe<Response> { [weak self] byteCount in self?.consume(byteCount) }
    /// Who waits for the stream, or for room on it.
    private var waitingWriters: [UnsafeContinuation<Void, Never>] = []
    private var hasFinishedRequest = false

    init(
        method: MethodDescriptor,
        metadata: Metadata,
        deadline: Deadline,
        waitsForReady: Bool,
        loop: EventLoop
    ) {
        self.loop = loop
        super.init(method: method, metadata: metadata, deadline: deadline, waitsForReady: waitsForReady)
    }

    // MARK: The stream

    /// What was sent is gone: only a call that never got a stream is tried again.
    override var canBeRepeated: Bool { false }
    override func resetForRetry() {}

    override func opened(_ stream: OpaquePointer) {
        crpc_stream_consume_manually(stream)
        if hasFinishedRequest { crpc_stream_half_close(stream) }
        writable()
    }

    override func receive(_ message: UnsafeRawBufferPointer) {
        guard !isCompleted else { return }
        do {
            answer.deliver(try Response(serializedBytes: ReceivedBytes(message)), byteCount: message.count)
        } catch {
            fail(RPCError(.internalError, "the answer is not a valid message", cause: error))
            if let stream { crpc_stream_reset(stream, HTTP2Error.cancel) }
        }
    }

    override func receive(compressed message: UnsafeRawBufferPointer) {
        guard !isCompleted else { return }
        let packed = Gzip.message(message, byteCountMax: messageBytesMax)
        answer.deliver(byteCount: message.count) { () throws(RPCError) -> Response in
            try packed.decoded(as: Response.self)
        }
    }

    override func writable() {
        let writers = waitingWriters
        waitingWriters = []
        for writer in writers { writer.resume() }
    }

    override func succeed() { complete(nil) }
    override func fail(_ error: RPCError) { complete(error) }

    private func complete(_ error: RPCError?) {
        guard !isCompleted else { return }
        isCompleted = true
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
            case .full: return await waitForRoom()
            case .noStream: await waitForRoom()
            case .ended: throw RPCError(.cancelled, "the call has ended")
            }
        }
    }

    private enum Queued { case sent, full, noStream, ended }

    private func queue(_ message: MessageBuffer) -> Queued {
        guard !isCompleted, !hasFinishedRequest else { return .ended }
        guard let stream else { return .noStream }
        guard crpc_stream_send_message(stream, message.release(), message.count, sendsGzip) == 0 else { return .ended }
        return crpc_stream_is_writable(stream) ? .sent : .full
    }

    private func waitForRoom() async {
        await withUnsafeContinuation { continuation in
            if loop.isCurrent {
                park(continuation)
            } else {
                loop.execute { self.park(continuation) }
            }
        }
    }

    private func park(_ writer: UnsafeContinuation<Void, Never>) {
        let mustWait = stream.map { !crpc_stream_is_writable($0) } ?? true
        if mustWait, !isCompleted { waitingWriters.append(writer) } else { writer.resume() }
    }

    func finishRequest() {
        guard loop.isCurrent else { return loop.execute { self.finishRequest() } }
        guard !hasFinishedRequest else { return }
        hasFinishedRequest = true
        if let stream { crpc_stream_half_close(stream) }
    }
}
