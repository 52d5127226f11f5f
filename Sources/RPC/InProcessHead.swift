import Synchronization

/// The head of an in-process response: delivered to the receiver of the metadata once, before the first message.
final class InProcessHead: Sendable {
    private let receiver: ResponseMetadata?
    private let hasBegun = Atomic(false)

    init(_ receiver: ResponseMetadata?) { self.receiver = receiver }

    /// Sends the head with metadata. Throws INTERNAL if the answer has begun.
    func send(_ metadata: Metadata) throws(RPCError) {
        guard !hasBegun.exchange(true, ordering: .relaxed) else {
            throw RPCError(.internalError, "the answer has begun already")
        }
        receiver?.receiveInitial(metadata)
    }

    /// Sends the head if it was not sent: a message follows.
    func begin() {
        if !hasBegun.exchange(true, ordering: .relaxed) { receiver?.receiveInitial(Metadata()) }
    }

    /// Nothing follows. `trailers`: nil where the handler did not end the call.
    func end(trailers: Metadata?) {
        if let trailers { receiver?.receiveTrailing(trailers) }
        receiver?.receiveEnd()
    }
}

extension RPCError {
    /// The error as the caller gets it, after the trailing metadata that the handler set.
    func following(_ trailers: Metadata) -> RPCError {
        var error = self
        error.metadata = trailers
        error.metadata.add(contentsOf: metadata)
        return error
    }
}
