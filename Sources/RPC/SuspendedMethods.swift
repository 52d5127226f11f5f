/// Methods whose calls are refused for a while, because this process died on them again and again.
public struct SuspendedMethods: Sendable {
    /// For each path of a method, when its calls are taken again.
    public var until: [String: Deadline]
    /// Makes the error that a call ends with, from the time left. Its code is UNAVAILABLE.
    public var error: @Sendable (_ remaining: Duration) -> RPCError

    /// No method.
    public init() { self.init(until: [:]) { _ in RPCError(.unavailable, "the method is suspended") } }

    /// These methods.
    public init(until: [String: Deadline], error: @escaping @Sendable (_ remaining: Duration) -> RPCError) {
        self.until = until
        self.error = error
    }
}

/// Refuses the calls of a method until a moment, and hands on those that come later.
final class SuspendedHandler: MethodHandler, @unchecked Sendable {
    // Sound as its superclass.
    private let handler: MethodHandler
    private let until: Deadline
    private let interceptors: [any ServerInterceptor]
    private let error: @Sendable (Duration) -> RPCError

    init(
        _ handler: MethodHandler,
        until: Deadline,
        interceptors: [any ServerInterceptor],
        error: @escaping @Sendable (Duration) -> RPCError
    ) {
        self.handler = handler
        self.until = until
        self.interceptors = interceptors
        self.error = error
        super.init(handler.descriptor, isOrigin: handler.isOrigin)
    }

    override func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        guard !until.hasPassed else { return handler.start(call, message: message) }
        refuse(call)
    }

    override func begin(_ call: ServerCall) -> any MessageReceiver {
        guard !until.hasPassed else { return handler.begin(call) }
        refuse(call)
        return DiscardingReceiver(call)
    }

    private func refuse(_ call: ServerCall) {
        let context = ServerContext(call)
        let error = interceptors.reversed().reduce(error(until.remaining)) { $1.refusal(of: context, $0) }
        call.fail(error, trailers: call.trailingMetadata)
        call.handlerEnded()
    }
}

/// Takes the messages of a refused call and gives their room back.
private final class DiscardingReceiver: MessageReceiver {
    private let call: ServerCall

    init(_ call: ServerCall) { self.call = call }

    func receive(_ message: UnsafeRawBufferPointer) { call.consume(byteCount: message.count) }

    func receive(compressed message: CompressedMessage) {}

    func receiveEnd(_ error: RPCError?) {}
}
