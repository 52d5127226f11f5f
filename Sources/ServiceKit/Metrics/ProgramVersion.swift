import Glibc

/// Which version of the programs this is.
public enum ProgramVersion {
    /// The version, as the changelog calls it.
    public static let current = "unreleased"
    /// Whether it was built for release.
    public static var mode: String {
        #if DEBUG
        "debug"
        #else
        "release"
        #endif
    }
}
