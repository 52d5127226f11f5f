import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// What the options of an enum's value say of the error that it stands for, as options.proto declares them.
struct ErrorValueOptions {
    /// `vestibule.options.v1.http`.
    static let http = MessageExtension<OptionalExtensionField<ProtobufInt32>, Google_Protobuf_EnumValueOptions>(
        _protobuf_fieldNumber: 52011,
        fieldName: "vestibule.options.v1.http"
    )
    /// `vestibule.options.v1.grpc`.
    static let grpc = MessageExtension<OptionalExtensionField<ProtobufString>, Google_Protobuf_EnumValueOptions>(
        _protobuf_fieldNumber: 52012,
        fieldName: "vestibule.options.v1.grpc"
    )
    /// `vestibule.options.v1.action`, whose enum is a number on the wire.
    static let action = MessageExtension<OptionalExtensionField<ProtobufInt32>, Google_Protobuf_EnumValueOptions>(
        _protobuf_fieldNumber: 52013,
        fieldName: "vestibule.options.v1.action"
    )

    /// The cases of `ErrorCode.Action`, by the numbers of `ErrorAction`.
    private static let actions = [
        1: "refresh", 2: "signInAgain", 3: "wait", 4: "show", 5: "fixRequest", 6: "retry",
    ]
    /// The cases of `Status.Code`, by the names of gRPC.
    private static let codes = [
        "CANCELLED": "cancelled", "INVALID_ARGUMENT": "invalidArgument", "DEADLINE_EXCEEDED": "deadlineExceeded",
        "NOT_FOUND": "notFound", "ALREADY_EXISTS": "alreadyExists", "PERMISSION_DENIED": "permissionDenied",
        "RESOURCE_EXHAUSTED": "resourceExhausted", "FAILED_PRECONDITION": "failedPrecondition", "ABORTED": "aborted",
        "OUT_OF_RANGE": "outOfRange", "UNIMPLEMENTED": "unimplemented", "INTERNAL": "internalError",
        "UNAVAILABLE": "unavailable", "UNAUTHENTICATED": "unauthenticated",
    ]

    /// The HTTP status.
    let http: Int32
    /// The case of `Status.Code`; nil for an error that no RPC answers.
    let grpc: String?
    /// The case of `ErrorCode.Action`.
    let action: String

    /// What the options of a value say; nil if the value stands for no error.
    ///
    /// - Throws: if they don't say everything, or something that isn't.
    init?(_ value: EnumValueDescriptor) throws {
        let options = value.options
        guard let http = options.getExtensionValue(ext: Self.http) else { return nil }
        let action = options.getExtensionValue(ext: Self.action).flatMap { Self.actions[Int($0)] }
        let name = options.getExtensionValue(ext: Self.grpc)
        let grpc = name.flatMap { Self.codes[$0] }
        guard 400...599 ~= http, let action, (name == nil) == (grpc == nil) else {
            throw GeneratorError.unfitError(value: value.fullName)
        }
        self.http = http
        self.grpc = grpc
        self.action = action
    }
}
