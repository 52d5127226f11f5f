/// The outcome of a call: a code for programs and a message for developers.
///
/// Source: gRPC over HTTP/2, `grpc-status` and `grpc-message`.
public struct Status: Sendable, Hashable {
    /// The code.
    public var code: Code
    /// A message for developers; empty on success.
    public var message: String

    /// Makes a status.
    public init(_ code: Code, _ message: String = "") {
        self.code = code
        self.message = message
    }

    /// Success.
    public static let ok = Status(.ok)

    /// The canonical codes of gRPC; the raw value is the number on the wire.
    public enum Code: Int, Sendable, CaseIterable, CustomStringConvertible {
        case ok = 0
        case cancelled
        case unknown
        case invalidArgument
        case deadlineExceeded
        case notFound
        case alreadyExists
        case permissionDenied
        case resourceExhausted
        case failedPrecondition
        case aborted
        case outOfRange
        case unimplemented
        case internalError
        case unavailable
        case dataLoss
        case unauthenticated

        /// The code's name as gRPC writes it, such as `DEADLINE_EXCEEDED`.
        public var description: String { Self.names[rawValue] }

        private static let names = [
            "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
            "ALREADY_EXISTS",
            "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
            "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
        ]

        /// The code for a number from the wire; a number that gRPC does not define means `unknown`.
        public init(wire: Int) { self = Code(rawValue: wire) ?? .unknown }
    }
}
