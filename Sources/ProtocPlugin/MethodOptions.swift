import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// What the options of an RPC say.
struct MethodOptions {
    /// `vestibule.options.v1.connect_get`, as options.proto declares it.
    static let connectGet = MessageExtension<OptionalExtensionField<ProtobufBool>, Google_Protobuf_MethodOptions>(
        _protobuf_fieldNumber: 52001,
        fieldName: "vestibule.options.v1.connect_get"
    )

    /// `vestibule.options.v1.gateway`, whose enum is a number on the wire.
    static let gateway = MessageExtension<OptionalExtensionField<ProtobufInt32>, Google_Protobuf_MethodOptions>(
        _protobuf_fieldNumber: 52002,
        fieldName: "vestibule.options.v1.gateway"
    )

    /// `vestibule.options.v1.app`, of which only the gateway needs the fields.
    static let app = MessageExtension<OptionalExtensionField<ProtobufBytes>, Google_Protobuf_MethodOptions>(
        _protobuf_fieldNumber: 52003,
        fieldName: "vestibule.options.v1.app"
    )

    /// `vestibule.options.v1.GatewayRole`, by its numbers.
    enum GatewayRole: Int32 {
        case forwards = 0
        case adds = 1
        case answers = 2
    }

    private let method: MethodDescriptor

    init(_ method: MethodDescriptor) { self.method = method }

    /// Whether a repeated call has the effect of one, as the proto's `idempotency_level` promises; only such calls may
    /// be retried after they may have reached the server.
    var isIdempotent: Bool {
        switch method.options.idempotencyLevel {
        case .idempotent, .noSideEffects: true
        case .idempotencyUnknown: false
        }
    }

    /// Whether Connect may call it by GET.
    var allowsGet: Bool { method.options.getExtensionValue(ext: Self.connectGet) ?? false }

    /// Whether the options say how apps call the method.
    var isForApps: Bool { method.options.hasExtensionValue(ext: Self.app) }

    /// What the gateway does with the method; nil if the proto gives a number of no role.
    var gatewayRole: GatewayRole? {
        GatewayRole(rawValue: method.options.getExtensionValue(ext: Self.gateway) ?? 0)
    }

    /// Throws if the options contradict the method.
    func check() throws {
        let isForwarded = ServiceOptions(method.service).isForwarded
        guard let gatewayRole, isForwarded || gatewayRole == .forwards else {
            throw GeneratorError.unfitForGateway(method: method.fullName)
        }
        guard !isForwarded || gatewayRole != .forwards || CallShape(method) == .unary else {
            throw GeneratorError.unfitForGateway(method: method.fullName)
        }
        guard allowsGet else { return }
        let isUnary = !method.clientStreaming && !method.serverStreaming
        guard isUnary, method.options.idempotencyLevel == .noSideEffects else {
            throw GeneratorError.unfitForGet(method: method.fullName)
        }
    }
}
