/// Why a file can't be read any further: the import ends, and what was done stays done.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// Its line; nil for all of it.
    public let line: Int64?
    /// What is wrong, without anything of what stands there.
    public let problem: String

    /// A fault.
    public init(_ file: String, line: Int64? = nil, _ problem: String) {
        self.file = file
        self.line = line
        self.problem = problem
    }

    /// One line.
    public var description: String { file + (line.map { ", line \($0)" } ?? "") + ": " + problem }
}
