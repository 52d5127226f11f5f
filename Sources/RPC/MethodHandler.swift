import SwiftProtobuf

/// A handler behind its method, without its message types: what the router finds for a path.
open class MethodHandler: @unchecked Sendable {
    // Sound because it and its subclasses hold constants that are Sendable.

    /// The method.
    public let descriptor: MethodDescriptor
    /// Whether its calls hand on to those that the handler makes what they carry.
    let isOrigin: Bool

    init(_ descriptor: MethodDescriptor, isOrigin: Bool) {
        self.descriptor = descriptor
        self.isOrigin = isOrigin
    }

    /// Whether a request is one message: then calls are started with `start`, else with `begin`.
    public var takesOneRequest: Bool { descriptor.kind == .unary || descriptor.kind == .serverStreaming }

    /// Starts the handler of a call whose request is one message, which is decoded before this returns. The handler runs
    /// here and now up to its first suspension, and then on the call's executor.
    public func start(_ call: ServerCall, message: UnsafeRawBufferPointer) {
        preconditionFailure("the method takes a stream of messages")
    }

    /// Starts the handler of a call whose request is a stream of messages, as above, and returns what takes them.
    public func begin(_ call: ServerCall) -> any MessageReceiver {
        preconditionFailure("the method takes one message")
    }
}
