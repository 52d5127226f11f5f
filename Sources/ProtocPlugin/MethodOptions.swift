import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// What the options of an RPC say.
struct MethodOptions {
    /// `vestibule.options.v1.connect_get`, as options.proto declares it.
    static let connectGet = MessageExtension<OptionalExtensionField<ProtobufBool>, Google_Protobuf_MethodOptions>(
        _protobuf_fieldNumber: 52001,
        fieldName: "vestibule.options.v1.connect_get"
    )

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

    /// Throws if the method allows GET and is not fit for it.
    func check() throws {
        guard allowsGet else { return }
        let isUnary = !method.clientStreaming && !method.serverStreaming
        guard isUnary, method.options.idempotencyLevel == .noSideEffects else {
            throw GeneratorError.unfitForGet(method: method.fullName)
        }
    }
}
