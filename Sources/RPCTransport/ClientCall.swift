import CRPC
import RPC

/// A client's call, from its start to its end. Loop thread only, once it was handed to a `LoopChannel`.
///
/// States: waiting for a connection → on a stream → completed, or → waiting to be tried again → waiting for a connection
/// → …. It completes once, at the first of: the server's answer, the deadline, cancellation, the loss of the connection.
/// The stream may outlive that; what it still brings is dropped.
class ClientCall: @unchecked Sendable {
    // Sound because after the hand-over, which happens before anything else, only the loop's thread touches it.

    let method: MethodDescriptor
    let metadata: Metadata
    let deadline: Deadline
    let waitsForReady: Bool
    /// The stream while there is one.
    var stream: OpaquePointer?
    /// Whether it is in its channel's queue.
    var isWaiting = false
    /// Fires while the call waits without a stream; on a stream the C layer watches the deadline.
    var timer: LoopTimer?
    /// How often it was tried again because the server had not processed it.
    var transparentRetries = 0
    /// How often it was tried again by the policy.
    var retries = RetryCount()
    /// Whether the first of the answer came: from then on the caller may have seen it, and nothing is tried again.
    var isCommitted = false
    var isCompleted = false
    /// Set by a cancellation that overtook the start, which ends the call then.
    var isCancelledEarly = false
    /// Set by the start.
    weak var channel: LoopChannel?
    /// Where it is counted: the table of its loop.
    private let table: CallTable
    private let beganNanoseconds = Deadline.now().nanoseconds
    /// Whether messages are sent compressed. Set before the hand-over.
    var sendsGzip = false
    /// Bytes of one received message once it is inflated. Set before the hand-over.
    var messageBytesMax = ConnectionLimits().messageBytesMax
    /// Takes the answer's metadata. Set before the hand-over.
    var responseMetadata: ResponseMetadata?
    /// Nil where nothing is traced. Set before the hand-over.
    var span: ClientSpan?
    /// Who waits for the completion of a unary call. Set before the hand-over; given away at completion.
    var completion: UnsafeContinuation<Void, Never>?

    init(method: MethodDescriptor, metadata: Metadata, deadline: Deadline, waitsForReady: Bool, loop: EventLoop) {
        table = loop.clientCalls
        self.method = method
        self.metadata = metadata
        self.deadline = deadline
        self.waitsForReady = waitsForReady
    }

    /// Whether another attempt sends the same, and nobody can tell.
    var canBeRepeated: Bool { preconditionFailure("overridden by every kind of call") }

    /// Counts it, as it completes. Loop thread.
    final func countEnd(_ code: Status.Code) {
        table.count(row: method.ordinal, code, since: beganNanoseconds)
        span?.end(code)
    }

    /// The metadata of the next attempt, which says how often it was tried before (gRFC A6).
    final var metadataToSend: Metadata {
        guard retries.total > 0 else { return metadata }
        var metadata = metadata
        metadata.add("grpc-previous-rpc-attempts", "\(retries.total)")
        return metadata
    }

    /// The call is on a stream.
    func opened(_ stream: OpaquePointer) { preconditionFailure("overridden by every kind of call") }

    /// A message of the answer.
    func receive(_ message: UnsafeRawBufferPointer) { preconditionFailure("overridden by every kind of call") }

    /// A compressed message of the answer.
    func receive(compressed message: UnsafeRawBufferPointer) { preconditionFailure("overridden by every kind of call") }

    /// The stream's queue has room again.
    func writable() {}

    /// The server ended the call with OK.
    func succeed() { preconditionFailure("overridden by every kind of call") }

    /// The call ended otherwise. Nothing happens if it has completed.
    func fail(_ error: RPCError) { preconditionFailure("overridden by every kind of call") }

    /// Forgets what an attempt brought, before another.
    func resetForRetry() { preconditionFailure("overridden by every kind of call") }
}
