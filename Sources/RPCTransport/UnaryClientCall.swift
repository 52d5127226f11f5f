import CRPC
import RPC
import SwiftProtobuf

/// A call with one message each way. The request is encoded anew for each attempt.
final class UnaryClientCall<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>: ClientCall,
    @unchecked Sendable
{
    // Sound as its superclass.

    private let request: Request
    /// Set before the hand-over; given away by `complete`.
    var continuation: UnsafeContinuation<Result<Response, RPCError>, Never>?
    private var response: Result<Response, RPCError>?

    init(
        method: MethodDescriptor,
        metadata: Metadata,
        deadline: Deadline,
        waitsForReady: Bool,
        loop: EventLoop,
        request: Request
    ) {
        self.request = request
        super.init(method: method, metadata: metadata, deadline: deadline, waitsForReady: waitsForReady, loop: loop)
    }

    override var canBeRepeated: Bool { !isCommitted }

    override func opened(_ stream: OpaquePointer) {
        let message: MessageBuffer
        do {
            message = try MessageBuffer(encoding: request)
        } catch {
            fail(RPCError(.internalError, "the request cannot be encoded", cause: error))
            crpc_stream_reset(stream, HTTP2Error.cancel)
            return
        }
        guard crpc_stream_send_message(stream, message.release(), message.count, sendsGzip) == 0,
            crpc_stream_half_close(stream) == 0
        else {
            crpc_stream_reset(stream, HTTP2Error.internalError)  // the stream's end tells the call
            return
        }
    }

    override func receive(_ message: UnsafeRawBufferPointer) {
        guard !isCompleted else { return }
        if response != nil {
            response = .failure(RPCError(.internalError, "the server answered with more than one message"))
            return
        }
        do {
            response = .success(try Response(serializedBytes: ReceivedBytes(message)))
        } catch {
            response = .failure(RPCError(.internalError, "the answer is not a valid message", cause: error))
        }
    }

    override func receive(compressed message: UnsafeRawBufferPointer) {
        do {
            let plain = try Gzip.inflate(message, byteCountMax: messageBytesMax)
            plain.withUnsafeBytes { receive($0) }
        } catch {
            if !isCompleted { response = .failure(error) }
        }
    }

    override func succeed() {
        complete(response ?? .failure(RPCError(.internalError, "the server answered OK without a message")))
    }

    override func fail(_ error: RPCError) { complete(.failure(error)) }

    override func resetForRetry() { response = nil }

    private func complete(_ result: Result<Response, RPCError>) {
        guard !isCompleted else { return }
        isCompleted = true
        switch result {
        case .success: countEnd(.ok)
        case .failure(let error): countEnd(error.code)
        }
        timer?.cancel()
        timer = nil
        responseMetadata?.receiveEnd()
        continuation?.resume(returning: result)
        continuation = nil
    }
}
