/// Why a file can't be read any further. The import ends, and finished rows stay imported.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let file: String
    /// Its line; nil for the whole file.
    public let line: Int64?
    /// The problem, without any content of the file.
    public let problem: String

    /// An error.
    public init(_ file: String, line: Int64? = nil, _ problem: String) {
        self.file = file
        self.line = line
        self.problem = problem
    }

    /// One line.
    public var description: String { file + (line.map { ", line \($0)" } ?? "") + ": " + problem }
}
