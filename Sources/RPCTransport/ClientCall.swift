import CRPC
import RPC
import SwiftProtobuf

/// A client's call, from its start to its end. Loop thread only, once it was handed to a `LoopChannel`.
///
/// States: waiting for a connection → on a stream → completed. It completes once, at the first of: the server's
/// answer, the deadline, cancellation, the loss of the connection. The stream may outlive that; what it still brings
/// is dropped.
class ClientCall: @unchecked Sendable {
    // Sound because after the hand-over, which happens before anything else, only the loop's thread touches it.

    let method: MethodDescriptor
    let metadata: Metadata
    let deadline: Deadline
    let waitsForReady: Bool
    private let encode: () throws -> MessageBuffer
    /// The stream while there is one.
    var stream: OpaquePointer?
    /// Fires while the call waits without a stream; on a stream the C layer watches the deadline.
    var timer: LoopTimer?
    var attempts = 0
    /// Set by a cancellation that overtook the start.
    var isCompleted = false
    weak var channel: LoopChannel?

    init(
        method: MethodDescriptor,
        metadata: Metadata,
        deadline: Deadline,
        waitsForReady: Bool,
        encode: @escaping () throws -> MessageBuffer
    ) {
        self.method = method
        self.metadata = metadata
        self.deadline = deadline
        self.waitsForReady = waitsForReady
        self.encode = encode
    }

    /// The request, encoded anew for each attempt.
    func request() throws(RPCError) -> MessageBuffer {
        do {
            return try encode()
        } catch {
            throw RPCError(.internalError, "the request cannot be encoded", cause: error)
        }
    }

    /// A message of the answer.
    func receive(_ message: UnsafeRawBufferPointer) { preconditionFailure("overridden by every kind of call") }

    /// The server ended the call with OK.
    func succeed() { preconditionFailure("overridden by every kind of call") }

    /// The call ended otherwise. Nothing happens if it has completed.
    func fail(_ error: RPCError) { preconditionFailure("overridden by every kind of call") }

    /// Forgets what an attempt brought, before another.
    func resetForRetry() { preconditionFailure("overridden by every kind of call") }
}

/// A call with one message each way.
final class UnaryClientCall<Response: SwiftProtobuf.Message>: ClientCall, @unchecked Sendable {
    // Sound as its superclass.

    /// Set before the hand-over; given away by `complete`.
    var continuation: UnsafeContinuation<Result<Response, RPCError>, Never>?
    private var response: Result<Response, RPCError>?

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

    override func succeed() {
        complete(response ?? .failure(RPCError(.internalError, "the server answered OK without a message")))
    }

    override func fail(_ error: RPCError) { complete(.failure(error)) }

    override func resetForRetry() { response = nil }

    private func complete(_ result: Result<Response, RPCError>) {
        guard !isCompleted else { return }
        isCompleted = true
        timer?.cancel()
        timer = nil
        continuation?.resume(returning: result)
        continuation = nil
    }
}
