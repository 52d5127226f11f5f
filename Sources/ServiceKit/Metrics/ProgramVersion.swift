import Glibc

/// Which version of the programs this is.
public enum ProgramVersion {
    /// The version, as the changelog calls it.
    public static let current = "unreleased"
    /// What `--version` prints.
    public static func text(of program: String) -> String { "\(program) \(current) (\(mode))" }
    /// Whether it was built for release.
    public static var mode: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }
}
