import Foundation
import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// `enum <name>`: the files of this run, with all that they import, as server reflection tells them to clients. Those without
/// a service too: what errors carry as details is imported by nobody.
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
                "/// the files that import them, without comments.",
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

    private func base64Lines() throws -> [String] {
        var set = Google_Protobuf_FileDescriptorSet()
        set.file = orderedFiles.map { $0.extractProto() }
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
