import Foundation
import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// `enum <name>`: the files of this run, with all that they import, for server reflection and for the gateway, which makes its
/// JSON routes from them. Includes files without a service: no file imports the messages of error details.
struct DescriptorSetStub {
    /// The Swift name of the enum, and of its file.
    let name: String
    let files: [FileDescriptor]

    /// Characters of base64 on a line: with the indentation and the backslash it stays within 120.
    private static let lineLength = 108

    /// The Swift source. Throws what SwiftProtobuf says where a file can't be serialized.
    func contents() throws -> String {
        var printer = CodePrinter(indent: FileStubs.indent.unicodeScalars, addNewlines: true)
        printer.print(FileStubs.mark, "")
        printer.print("/// The protos of this module and what they import, for server reflection.")
        printer.print("public enum \(name) {")
        let lines = try base64Lines()
        printer.withIndentation { printer in
            printer.print(
                "/// A serialized `google.protobuf.FileDescriptorSet` in base64 (RFC 4648 section 4): imports before",
                "/// the files that import them. Files that describe calls of apps have their comments.",
                "public static let fileDescriptorSet = \"\"\""
            )
            printer.withIndentation { printer in
                for line in lines.dropLast() { printer.print(line + "\\") }
                if let last = lines.last { printer.print(last) }
                printer.print("\"\"\"")
            }
        }
        printer.print("}")
        return printer.content
    }

    /// The file, with the comments before its declarations if apps call a method of it. Where these stand in the file is left out.
    private static func proto(of file: FileDescriptor) -> Google_Protobuf_FileDescriptorProto {
        guard file.services.flatMap(\.methods).contains(where: { MethodOptions($0).isForApps }) else {
            return file.extractProto()
        }
        var options = ExtractProtoOptions()
        options.includeSourceCodeInfo = true
        var proto = file.extractProto(options: options)
        proto.sourceCodeInfo.location = proto.sourceCodeInfo.location.compactMap { location in
            guard location.hasLeadingComments else { return nil }
            var comment = Google_Protobuf_SourceCodeInfo.Location()
            comment.path = location.path
            comment.leadingComments = location.leadingComments
            return comment
        }
        return proto
    }

    private func base64Lines() throws -> [String] {
        var set = Google_Protobuf_FileDescriptorSet()
        set.file = orderedFiles.map(Self.proto)
        let bytes: Data = try set.serializedBytes()
        let text = Array(bytes.base64EncodedString())
        return stride(from: 0, to: text.count, by: Self.lineLength).map { start in
            String(text[start..<min(start + Self.lineLength, text.count)])
        }
    }

    /// In an order that depends on nothing but the protos.
    private var orderedFiles: [FileDescriptor] {
        var seen: Set<String> = []
        var ordered: [FileDescriptor] = []
        func visit(_ file: FileDescriptor) {
            guard seen.insert(file.name).inserted else { return }
            for dependency in file.dependencies { visit(dependency) }
            ordered.append(file)
        }
        for file in files.sorted(by: { $0.name < $1.name }) { visit(file) }
        return ordered
    }
}
