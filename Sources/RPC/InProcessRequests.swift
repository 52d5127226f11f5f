import Synchronization

/// What the caller of an in-process streaming call sends.
final class InProcessRequests: RequestSink, @unchecked Sendable {
    // Sound because all that changes is behind the lock, and the receiver is called with it held, one call at a time.

    let gate: CreditGate
    private let handler: MethodHandler

    private struct State {
        weak var call: ServerCall?
        var receiver: (any MessageReceiver)?
        var first: MessageBuffer?
        /// Whether no message follows: the caller said so, or the call has ended.
        var isFinished = false
        /// Whether the call has ended.
        var isClosed = false
    }
    private let state = Mutex(State())

    init(handler: MethodHandler, window: Int) {
        self.handler = handler
        gate = CreditGate(limit: window)
    }

    func begin(_ call: ServerCall) {
        let receiver = handler.takesOneRequest ? nil : handler.begin(call)
        state.withLock { state in
            state.call = call
            state.receiver = receiver
        }
    }

    func send(_ message: MessageBuffer) async throws(RPCError) {
        try await gate.waitForRoom()  // for those whose wait was cancelled before
        // Counted first: it may be read before the next line. A single request is decoded at once: it is not on its way.
        if !handler.takesOneRequest { gate.left(byteCount: message.count) }
        let (isTaken, refusing) = state.withLock { state -> (Bool, ServerCall?) in
            guard !state.isFinished else { return (false, nil) }
            if let receiver = state.receiver {
                message.withUnsafeBytes(receiver.receive)
            } else if state.first == nil {
                state.first = message
            } else {
                return (true, state.call)
            }
            return (true, nil)
        }
        guard isTaken else { throw .ended(self) }
        refusing?.refuse(.internalError, "the method takes one request message")
        try await gate.waitForRoom()
        if state.withLock({ $0.isClosed }) { throw .ended(self) }
    }

    func finishRequest() {
        let (call, first) = state.withLock { state -> (ServerCall?, MessageBuffer?) in
            guard !state.isFinished else { return (nil, nil) }
            state.isFinished = true
            state.receiver?.receiveEnd(nil)
            return state.receiver == nil ? (state.call, state.first) : (nil, nil)
        }
        guard let call else { return }
        if let first {
            first.withUnsafeBytes { handler.start(call, message: $0) }
        } else {
            call.refuse(.internalError, "the request has no message")
        }
    }

    /// The call has ended: waiting senders and readers resume.
    func close(_ error: RPCError) {
        state.withLock { state in
            if !state.isFinished { state.receiver?.receiveEnd(error) }
            state.isFinished = true
            state.isClosed = true
        }
        gate.close()
    }
}
