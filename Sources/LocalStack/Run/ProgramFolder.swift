import FoundationEssentials

/// Finds the programs that this one starts.
public enum ProgramFolder {
    /// The folder that the configuration names, or this program's own.
    ///
    /// - Throws: the system's error if this program can't be found in /proc.
    public static func path(configured: String?) throws -> String {
        if let configured { return StackPlan.absolute(configured) }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return String(own[..<(own.lastIndex(of: "/") ?? own.endIndex)])
    }
}
