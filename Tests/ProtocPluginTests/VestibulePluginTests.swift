import Foundation
import SwiftProtobuf
import SwiftProtobufPluginLibrary
import Testing

@testable import protoc_gen_vestibule

/// Compares what the plugin writes with files that were read and approved.
///
/// After an intended change of the output run the tests with `VESTIBULE_UPDATE_GOLDEN=1`, and read the difference
/// before it is committed.
struct VestibulePluginTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")
    private static let files = [
        "sample/nothing.proto", "sample/unversioned.proto", "sample/v1/sample.proto", "sample/v1/shared.proto",
    ]
    private static let isUpdating = ProcessInfo.processInfo.environment["VESTIBULE_UPDATE_GOLDEN"] == "1"

    private static func generate(
        _ parameter: String,
        files: [String] = files,
        folder: URL = golden
    ) throws -> Google_Protobuf_Compiler_CodeGeneratorResponse {
        let request = try ProtoCompiler(folder: folder).request(files: files, parameter: parameter)
        return generateCode(request: request, generator: VestibulePlugin())
    }

    @Test func `The output is the approved one`() throws {
        let response = try Self.generate("FileNaming=DropPath")
        #expect(response.error.isEmpty)
        #expect(
            response.file.map(\.name).sorted() == [
                "sample.vestibule.swift", "shared.vestibule.swift", "unversioned.vestibule.swift",
            ]
        )
        try Self.compare(response)
    }

    @Test func `The doubles are the approved ones, for protos that declare services only`() throws {
        let response = try Self.generate("FileNaming=DropPath,Doubles=SampleAPI")
        #expect(response.error.isEmpty)
        #expect(response.file.map(\.name) == ["sample.doubles.swift"])
        try Self.compare(response)
    }

    private static func compare(_ response: Google_Protobuf_Compiler_CodeGeneratorResponse) throws {
        for file in response.file {
            // `.txt`, as this is no source of the test target.
            let approved = golden.appending(path: "\(file.name).txt")
            if isUpdating { try file.content.write(to: approved, atomically: true, encoding: .utf8) }
            let expected = try String(contentsOf: approved, encoding: .utf8)
            #expect(file.content == expected, "\(file.name) differs from Golden/\(file.name).txt")
        }
    }

    /// What a handler and a double have to declare, as `func grow(_ request: …, context: …) async throws -> …`.
    private static func methods(of source: String, in declaration: String) throws -> [String] {
        let start = try #require(source.range(of: declaration)).upperBound
        let body = source[start...].prefix(upTo: try #require(source[start...].range(of: "\n}\n")).lowerBound)
        return try body.matches(of: Regex(#"func [^{]*?async throws(?: -> [\w.]+)?"#)).map { match in
            match.output[0].substring.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") } ?? ""
        }
    }

    @Test
    func `A service that grew by an RPC has a double that grew with it, and nobody who uses the double notices`() throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Self.golden, to: folder)
        let proto = folder.appending(path: "sample/v1/sample.proto")
        let before = try Self.generate("FileNaming=DropPath,Doubles=SampleAPI")
        let text = try String(contentsOf: proto, encoding: .utf8)
        let grown = text.replacing(
            "  // Many there.",
            with: "  rpc Grow(Type) returns (stream Type);\n\n  // Many there."
        )
        try grown.write(to: proto, atomically: true, encoding: .utf8)
        let stubs = try #require(
            Self.generate("FileNaming=DropPath", folder: folder).file.first { $0.name == "sample.vestibule.swift" }
        )
        let doubles = try #require(Self.generate("FileNaming=DropPath,Doubles=SampleAPI", folder: folder).file.first)
        let required = try Self.methods(of: stubs.content, in: "public protocol SampleServiceHandler: RPCService {")
        let declared = try Self.methods(
            of: doubles.content,
            in: "public final class SampleServiceDouble: SampleServiceHandler {"
        )
        #expect(required.count == 8)
        #expect(declared == required)
        #expect(doubles.content.contains("        public var grow: @Sendable ("))
        // What a test could name before, it can still name.
        let named = try #require(before.file.first).content.split(separator: "\n").filter { $0.contains("public ") }
        let lines = Set(doubles.content.split(separator: "\n"))
        #expect(named.allSatisfy { lines.contains($0) })
    }

    @Test(arguments: [
        ("", "sample/v1/shared.vestibule.swift"),
        ("FileNaming=FullPath", "sample/v1/shared.vestibule.swift"),
        ("FileNaming=PathToUnderscores", "sample_v1_shared.vestibule.swift"),
        ("FileNaming=DropPath", "shared.vestibule.swift"),
    ]
    )
    func `Output names follow the option`(parameter: String, name: String) throws {
        let response = try Self.generate(parameter, files: ["sample/v1/shared.proto"])
        #expect(response.file.map(\.name) == [name])
    }

    @Test func `The descriptor set holds every file after its imports, and comments of what apps call`() throws {
        let response = try Self.generate("FileNaming=DropPath,DescriptorSet=SampleDescriptors")
        let file = try #require(response.file.first { $0.name == "SampleDescriptors.vestibule.swift" })
        #expect(file.content.contains("public enum SampleDescriptors {\n"))
        #expect(file.content.split(separator: "\n").allSatisfy { $0.count <= 120 })
        let parts = file.content.components(separatedBy: "\"\"\"")
        try #require(parts.count == 3)
        let text = parts[1].filter { !$0.isWhitespace && $0 != "\\" }
        let bytes = try #require(Data(base64Encoded: text))
        let set = try Google_Protobuf_FileDescriptorSet(
            serializedBytes: bytes,
            extensions: SimpleExtensionMap(arrayLiteral: MethodOptions.app)
        )
        #expect(
            set.file.map(\.name) == [
                "sample/nothing.proto", "sample/unversioned.proto", "google/protobuf/empty.proto",
                "sample/v1/shared.proto", "google/protobuf/descriptor.proto", "vestibule/options/v1/options.proto",
                "sample/v1/sample.proto",
            ]
        )
        #expect(set.file.dropLast().allSatisfy { !$0.hasSourceCodeInfo })
        let locations = try #require(set.file.last).sourceCodeInfo.location
        #expect(locations.contains { $0.leadingComments == " Forwarded, changes nothing.\n" })
        #expect(locations.allSatisfy { $0.hasLeadingComments && $0.span.isEmpty && !$0.hasTrailingComments })
        let app = set.file.last?.service.last?.method.first?.options.getExtensionValue(ext: MethodOptions.app)
        #expect(app.map { Array($0) } == [0x22, 7, 0x0A, 5] + Array("/urls".utf8))
        #expect(set.file.last?.service.first?.method.map(\.name).contains("Chat") == true)
    }

    @Test func `No descriptor set is written unless it is asked for, and its name must be a type's`() throws {
        #expect(try Self.generate("").file.allSatisfy { !$0.content.contains("fileDescriptorSet") })
        let wrong = try Self.generate("DescriptorSet=no name")
        #expect(wrong.error == "option 'DescriptorSet' can't be 'no name'; it is one of the names of types")
        let wrongModule = try Self.generate("Doubles=api")
        #expect(wrongModule.error == "option 'Doubles' can't be 'api'; it is one of the names of types")
    }

    @Test(arguments: [
        ("rpc All(GetURLRequest) returns (Type);", "rpc All(GetURLRequest) returns (Type) {"),
        (
            "rpc Download(GetURLRequest) returns (stream Shared);",
            "rpc Download(GetURLRequest) returns (stream Shared) {"
        ),
    ])
    func `Only a unary method without side effects may be called by GET`(declared: String, opened: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Self.golden, to: folder)
        let proto = folder.appending(path: "sample/v1/sample.proto")
        let text = try String(contentsOf: proto, encoding: .utf8)
        let changed = text.replacing(
            declared,
            with: opened + " option (vestibule.options.v1.connect_get) = true; }",
            maxReplacements: 1
        )
        #expect(changed != text)
        try changed.write(to: proto, atomically: true, encoding: .utf8)
        let response = try Self.generate("", folder: folder)
        #expect(response.error.contains("can't have connect_get"))
        #expect(response.file.isEmpty)
    }

    /// A forwarded method is unary, and only methods of forwarded services have a role.
    @Test(arguments: [
        ("rpc Change(GetURLRequest) returns (Shared);", "rpc Change(GetURLRequest) returns (stream Shared);"),
        (
            "rpc All(GetURLRequest) returns (Type);",
            "rpc All(GetURLRequest) returns (Type) { option (vestibule.options.v1.gateway) = GATEWAY_ROLE_ADDS; }"
        ),
    ])
    func `A method that doesn't fit its role at the gateway is an error`(declared: String, changed: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: Self.golden, to: folder)
        let proto = folder.appending(path: "sample/v1/sample.proto")
        let text = try String(contentsOf: proto, encoding: .utf8)
        try text.replacing(declared, with: changed).write(to: proto, atomically: true, encoding: .utf8)
        let response = try Self.generate("", folder: folder)
        #expect(response.error.contains("can't have this gateway role"))
        #expect(response.file.isEmpty)
    }

    @Test func `A misspelt option is an error and nothing is written`() throws {
        let misspelt = try Self.generate("FileName=DropPath")
        #expect(misspelt.error == "unknown option 'FileName'")
        #expect(misspelt.file.isEmpty)
        let value = try Self.generate("FileNaming=Flat")
        #expect(
            value.error == "option 'FileNaming' can't be 'Flat'; it is one of FullPath, PathToUnderscores, DropPath"
        )
    }

    @Test func `A message of a file that is generated elsewhere goes by its long name`() throws {
        let response = try Self.generate("FileNaming=DropPath", files: ["sample/v1/sample.proto"])
        let stub = try #require(response.file.first?.content)
        #expect(stub.contains("import SwiftProtobuf\n"))
        #expect(stub.contains("async throws -> Sample_V1_Shared\n"))
    }
}
