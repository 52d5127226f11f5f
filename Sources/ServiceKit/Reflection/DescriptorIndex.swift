import FoundationEssentials
import SwiftProtobuf

/// The protos of a server, found by what they declare. Made once at the start and then only read.
struct DescriptorIndex: Sendable {
    private struct File {
        let bytes: Data
        let imports: [String]
    }
    private var files: [String: File] = [:]
    /// The file that declares a fully qualified name.
    private var fileNames: [String: String] = [:]
    /// For each message that is extended, the files that declare its extensions, by number.
    private var extensions: [String: [Int32: String]] = [:]
    private var messageNames: Set<String> = []

    /// Indexes serialized files. Of two files with one name the first counts.
    init(_ protos: [Google_Protobuf_FileDescriptorProto]) throws {
        for proto in protos where files[proto.name] == nil {
            files[proto.name] = File(bytes: try proto.serializedBytes(), imports: proto.dependency)
            add(proto)
        }
    }

    /// The file of that name, followed by what it imports, each once; nil if there is none.
    func files(named name: String) -> [Data]? {
        guard files[name] != nil else { return nil }
        var seen: Set<String> = []
        var next = [name]
        var found: [Data] = []
        while let name = next.popLast() {
            guard seen.insert(name).inserted, let file = files[name] else { continue }
            found.append(file.bytes)
            next += file.imports
        }
        return found
    }

    /// The files for what declares a fully qualified name, such as `vestibule.profile.v1.ProfileService.GetProfile`.
    func files(declaring symbol: String) -> [Data]? { fileNames[symbol].flatMap(files(named:)) }

    /// The files for what declares an extension.
    func files(extending message: String, number: Int32) -> [Data]? {
        extensions[message]?[number].flatMap(files(named:))
    }

    /// The numbers of a message's extensions, ascending; nil if there is no such message.
    func extensionNumbers(of message: String) -> [Int32]? {
        guard messageNames.contains(message) else { return nil }
        return extensions[message].map { $0.keys.sorted() } ?? []
    }
}

// MARK: - What a file declares

extension DescriptorIndex {
    private mutating func add(_ file: Google_Protobuf_FileDescriptorProto) {
        let scope = file.package.isEmpty ? "" : file.package + "."
        for message in file.messageType { add(message, scope, file.name) }
        for enumeration in file.enumType { add(enumeration, scope, file.name) }
        for field in file.extension { add(field, scope, file.name) }
        for service in file.service {
            fileNames[scope + service.name] = file.name
            for method in service.method { fileNames["\(scope)\(service.name).\(method.name)"] = file.name }
        }
    }

    private mutating func add(_ message: Google_Protobuf_DescriptorProto, _ outer: String, _ file: String) {
        let name = outer + message.name
        let scope = name + "."
        messageNames.insert(name)
        fileNames[name] = file
        for field in message.field { fileNames[scope + field.name] = file }
        for oneof in message.oneofDecl { fileNames[scope + oneof.name] = file }
        for nested in message.nestedType { add(nested, scope, file) }
        for enumeration in message.enumType { add(enumeration, scope, file) }
        for field in message.extension { add(field, scope, file) }
    }

    /// An enum's values lie in the scope around it.
    private mutating func add(_ enumeration: Google_Protobuf_EnumDescriptorProto, _ scope: String, _ file: String) {
        fileNames[scope + enumeration.name] = file
        for value in enumeration.value { fileNames[scope + value.name] = file }
    }

    private mutating func add(_ field: Google_Protobuf_FieldDescriptorProto, _ scope: String, _ file: String) {
        fileNames[scope + field.name] = file
        // protoc writes the name of the extended message in full, after a dot.
        extensions[String(field.extendee.trimmingPrefix(".")), default: [:]][field.number] = file
    }
}
