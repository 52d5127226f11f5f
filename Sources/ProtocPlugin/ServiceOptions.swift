import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// What the options of a service say.
struct ServiceOptions {
    /// `vestibule.options.v1.forwarded`, as options.proto declares it.
    static let forwarded = MessageExtension<OptionalExtensionField<ProtobufBool>, Google_Protobuf_ServiceOptions>(
        _protobuf_fieldNumber: 52021,
        fieldName: "vestibule.options.v1.forwarded"
    )

    private let service: ServiceDescriptor

    init(_ service: ServiceDescriptor) { self.service = service }

    /// Whether the gateway forwards the service's methods to the program that implements it.
    var isForwarded: Bool { service.options.getExtensionValue(ext: Self.forwarded) ?? false }

    /// The methods that the program implements: all but those that the gateway answers by itself.
    var implementedMethods: [MethodDescriptor] {
        service.methods.filter { MethodOptions($0).gatewayRole != .answers }
    }
}
