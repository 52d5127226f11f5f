import RPC

/// An error of the API, as the enum `ErrorReason` of errors.proto declares it.
public struct ErrorCode: Sendable, Hashable {
    /// What an app does about an error (`vestibule.options.v1.ErrorAction`).
    public enum Action: String, Sendable, CaseIterable {
        /// Refreshes the session, then repeats the request once.
        case refresh
        /// Has the user sign in.
        case signInAgain = "sign_in_again"
        /// Repeats the request after the time that the answer says.
        case wait
        /// Shows the message.
        case show
        /// Fails in the same way each time: the app or the configuration has to be mended.
        case fixRequest = "fix_request"
        /// Repeats the request, with growing pauses.
        case retry
    }

    /// The stable word: the `code` of a problem or of its fields, and the `reason` of an RPC's error.
    public let name: String
    /// The HTTP status with which routes answer it.
    public let http: Int
    /// The code with which RPCs answer it; nil for errors of HTTP itself.
    public let grpc: Status.Code?
    /// What an app does about it.
    public let action: Action
    /// What happened, in a sentence for developers.
    public let description: String

    /// An error.
    public init(_ name: String, http: Int, grpc: Status.Code?, action: Action, description: String) {
        self.name = name
        self.http = http
        self.grpc = grpc
        self.action = action
        self.description = description
    }

    /// Every error, in the order of the proto.
    public static let all = AppV1.errorCodes

    /// The error with a name; nil for a name that the proto doesn't have.
    public static func named(_ name: String) -> ErrorCode? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
