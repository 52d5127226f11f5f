import CRPC
import RPC
import SwiftProtobuf

/// A call with one message each way. The request is encoded anew for each attempt.
final class UnaryClientCall<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>: ClientCall,
    @unchecked Sendable
{
    // Sound as its superclass.

    private let request: Request
    /// Why the call failed; nil if it did not. To be read when it has completed.
    private(set) var failure: RPCError?
    private var hasResponse = false
    /// The answer's message; an empty one until it came. To be read when the call has completed. An optional one, or a
    /// `Result`, would have the run time look for its type at each touch, since the channel knows the message by its protocol only.
    private(set) var response = Response()

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
        guard !hasResponse else {
            failure = RPCError(.internalError, "the server answered with more than one message")
            return
        }
        hasResponse = true
        do {
            try response.merge(serializedBytes: message.bytes)
        } catch {
            failure = RPCError(.internalError, "the answer is not a valid message", cause: error)
        }
    }

    override func receive(compressed message: UnsafeRawBufferPointer) {
        do {
            let plain = try Gzip.inflate(message, byteCountMax: messageBytesMax)
            plain.withUnsafeBytes { receive($0) }
        } catch {
            guard !isCompleted else { return }
            hasResponse = true
            failure = error
        }
    }

    override func succeed() {
        if hasResponse {
            complete(failure)
        } else {
            complete(RPCError(.internalError, "the server answered OK without a message"))
        }
    }

    override func fail(_ error: RPCError) { complete(error) }

    override func resetForRetry() {
        response = Response()
        hasResponse = false
        failure = nil
    }

    private func complete(_ failure: RPCError?) {
        guard !isCompleted else { return }
        isCompleted = true
        self.failure = failure
        countEnd(failure?.code ?? .ok)
        timer?.cancel()
        timer = nil
        responseMetadata?.receiveEnd()
        completion?.resume()
        completion = nil
    }
}
