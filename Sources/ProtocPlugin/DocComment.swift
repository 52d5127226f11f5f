import SwiftProtobufPluginLibrary

/// The documentation of a generated declaration.
enum DocComment {
    private static let prefix = "///"

    /// The proto's own comment on one line; empty where the proto says nothing.
    static func text(of descriptor: some ProvidesSourceCodeLocation) -> String {
        descriptor.protoSourceComments(commentPrefix: "").split(separator: "\n")
            .map { $0.drop { $0 == " " } }.joined(separator: " ")
    }

    /// The proto's own comment as documentation lines; `fallback` where the proto says nothing.
    static func lines(
        of descriptor: some ProvidesSourceCodeLocation & ProvidesDeprecationComment,
        fallback: String
    ) -> [String] {
        let comment = descriptor.protoSourceCommentsWithDeprecation(commentPrefix: prefix)
        guard !comment.isEmpty else { return ["\(prefix) \(fallback)"] }
        return comment.split(separator: "\n").map(String.init)
    }
}

extension CodePrinter {
    /// Prints each of `lines` on a line of its own.
    mutating func print(lines: [String]) {
        for line in lines { print(line) }
    }
}
