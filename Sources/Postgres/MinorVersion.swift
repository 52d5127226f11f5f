/// A version of the programs without its last number, such as 0.9. Each runs on the tables of the next one.
public struct MinorVersion: Sendable, Hashable, CustomStringConvertible {
    let major: Int
    let minor: Int

    /// All minor versions, oldest first. The last one is that of this program, whether it is released or is to be released next.
    /// `Tests/Tidy` compares the list with the changelog.
    public static let all = [MinorVersion(0, 9), MinorVersion(0, 10)]

    /// That of this program.
    public static var current: MinorVersion { all[all.count - 1] }
    /// The first one that has migrations.
    public static var first: MinorVersion { all[0] }

    /// A version of these numbers.
    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// The version that a text such as `0.9` names; nil for any other text.
    init?(_ text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor)
    }

    /// The one before; of the first one itself.
    var predecessor: MinorVersion {
        let index = Self.all.firstIndex(of: self) ?? 0
        return Self.all[max(index - 1, 0)]
    }

    /// The two numbers with a dot between.
    public var description: String { "\(major).\(minor)" }
}

extension MinorVersion: Comparable {
    /// Whether one is older than the other.
    public static func < (left: MinorVersion, right: MinorVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
