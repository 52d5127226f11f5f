import API
import RPC
import SwiftProtobuf

/// `grpc.reflection.v1alpha`, which older clients ask: the same messages in another package, so its proto is made of that
/// of `v1`.
enum ReflectionAlpha {
    /// The package that it is made of.
    static let package = "grpc.reflection.v1"
    private static let alphaPackage = "grpc.reflection.v1alpha"

    /// The method that answers as its namesake does.
    static let method = MethodDescriptor(
        service: "\(alphaPackage).ServerReflection",
        method: ServerReflectionMethods.serverReflectionInfo.method,
        kind: .bidirectionalStreaming
    )

    /// The proto, from that of `v1`.
    static func file(from original: Google_Protobuf_FileDescriptorProto) -> Google_Protobuf_FileDescriptorProto {
        var file = original
        file.name = "grpc/reflection/v1alpha/reflection.proto"
        file.package = alphaPackage
        for message in file.messageType.indices {
            // A scalar has no type's name: an empty one would be another thing.
            for field in file.messageType[message].field.indices
            where file.messageType[message].field[field].hasTypeName {
                rename(&file.messageType[message].field[field].typeName)
            }
        }
        for service in file.service.indices {
            for method in file.service[service].method.indices {
                rename(&file.service[service].method[method].inputType)
                rename(&file.service[service].method[method].outputType)
            }
        }
        return file
    }

    private static func rename(_ type: inout String) {
        let prefix = ".\(package)."
        if type.hasPrefix(prefix) { type = ".\(alphaPackage)." + type.dropFirst(prefix.count) }
    }
}
