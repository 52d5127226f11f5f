import Foundation
import SwiftProtobuf
import SwiftProtobufPluginLibrary

@testable import protoc_gen_vestibule

/// Parses protos as protoc does for a plugin: with the comments of the source.
struct ProtoCompiler {
    struct Failure: Error {
        let message: String
    }

    let folder: URL
    /// Where the protos of our options are.
    private static let options = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "proto")

    /// The request that protoc would send to a plugin for these files.
    func request(
        files: [String],
        parameter: String
    ) throws -> Google_Protobuf_Compiler_CodeGeneratorRequest {
        let output = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).binpb")
        defer { try? FileManager.default.removeItem(at: output) }
        let protoc = Process()
        protoc.executableURL = URL(filePath: "/usr/bin/env")
        protoc.arguments =
            [
                "protoc", "--include_imports", "--include_source_info", "--proto_path=\(folder.path())",
                "--proto_path=\(Self.options.path())", "--descriptor_set_out=\(output.path())",
            ] + files
        let errors = Pipe()
        protoc.standardError = errors
        try protoc.run()
        let message = try errors.fileHandleForReading.readToEnd() ?? Data()
        protoc.waitUntilExit()
        guard protoc.terminationStatus == 0 else {
            throw Failure(message: String(decoding: message, as: UTF8.self))
        }
        var options = SimpleExtensionMap()
        options.insert(contentsOf: VestibulePlugin().customOptionExtensions)
        let set = try Google_Protobuf_FileDescriptorSet(
            serializedBytes: Data(contentsOf: output),
            extensions: options
        )
        var request = Google_Protobuf_Compiler_CodeGeneratorRequest()
        request.protoFile = set.file
        request.fileToGenerate = files
        request.parameter = parameter
        return request
    }
}
