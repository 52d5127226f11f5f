import SwiftProtobuf

/// The handler of one method, without its message types: what `Router` finds for a path. Transports call `start` or `begin`.
open class MethodHandler: @unchecked Sendable {
    // Sound because it and its subclasses hold constants that are Sendable.

    /// The method.
    public final let descriptor: MethodDescriptor
    /// Whether the calls that the handler makes inherit from the call that it handles (`OnwardCall`).
    final let isOrigin: Bool

    init(_ descriptor: MethodDescriptor, isOrigin: Bool) {
        self.descriptor = descriptor
        self.isOrigin = isOrigin
    }

    /// Whether the request is a single message (unary, server streaming). Such a call is started with `start`, any other with
    /// `begin`.
    public var takesOneRequest: Bool { descriptor.kind == .unary || descriptor.kind == .serverStreaming }

    /// Starts the handler of a call with a single request message. The message is decoded before this returns. The handler
    /// runs on the caller's thread up to its first suspension, and on the call's executor from then on.
    public func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        preconditionFailure("the method takes a stream of messages")
    }

    /// Starts the handler of a call with a stream of request messages. The handler runs as it does after `start`. Returns the
    /// object that takes the messages as they arrive.
    public func begin(_ call: ServerCall) -> any MessageReceiver {
        preconditionFailure("the method takes one message")
    }
}
