/// Why a call failed, as handlers throw it and clients catch it.
public struct RPCError: Error, Sendable, CustomStringConvertible {
    /// The code sent as `grpc-status`; never `ok`.
    public var code: Status.Code
    /// The message sent as `grpc-message`: for developers; for people if the error carries a reason. With
    /// nothing secret or personal in it.
    public var message: String
    /// A serialized `google.rpc.Status`, sent as `grpc-status-details-bin`; empty if there is none.
    public var statusDetails: [UInt8]
    /// Trailing metadata.
    public var metadata: Metadata
    /// What caused it. Logged by the server and never sent.
    public var cause: (any Error)?

    /// Makes an error.
    public init(
        _ code: Status.Code,
        _ message: String,
        statusDetails: [UInt8] = [],
        metadata: Metadata = Metadata(),
        cause: (any Error)? = nil
    ) {
        self.code = code == .ok ? .unknown : code
        self.message = message
        self.statusDetails = statusDetails
        self.metadata = metadata
        self.cause = cause
    }

    /// The error that a caller gets for what a handler threw. An `RPCError` stays as it is, `CancellationError` becomes
    /// CANCELLED, and anything else INTERNAL without any detail, so that nothing leaks by accident.
    public init(thrown error: any Error) {
        if let error = error as? RPCError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "the call was cancelled", cause: error)
        } else {
            self.init(.internalError, "internal error", cause: error)
        }
    }

    /// The code and the message, without the cause.
    public var description: String { message.isEmpty ? "\(code)" : "\(code): \(message)" }
}

/// The cause of an UNAVAILABLE error if the channel had no connection to send the call over. The server cannot have seen such
/// a call, so even one of a method that is not idempotent may be made again.
public struct CallNotSent: Error, Sendable, CustomStringConvertible {
    /// For the log.
    public var description: String { "the call was not sent" }

    /// The cause.
    public init() {}
}
