/// Why a command on a file changed nothing, or found faults.
public struct CommandError: Error, Sendable, Hashable {
    /// The lines for standard error, without the command's name.
    public let lines: [String]
    /// Whether the command line lacks something or contradicts itself, and not the file.
    public let isUsage: Bool

    /// An error in words.
    init(_ lines: String..., isUsage: Bool = false) { self.init(lines: lines, isUsage: isUsage) }

    /// An error in several lines.
    init(lines: [String], isUsage: Bool = false) {
        self.lines = lines
        self.isUsage = isUsage
    }
}
