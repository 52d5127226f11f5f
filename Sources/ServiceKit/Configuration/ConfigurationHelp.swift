/// The text about configuration that `--help` ends with.
public enum ConfigurationHelp {
    /// How configuration is given, and every key with its kind, default and purpose.
    public static func text(_ keys: [any AnyConfigurationKey]) -> String {
        let introduction = """
            CONFIGURATION: environment variables, or lines of KEY=VALUE in the file that --config or \
            \(ConfigurationNames.file) names; the environment wins.
            """
        return ([introduction] + keys.map(entry)).joined(separator: "\n\n")
    }

    private static func entry(_ key: any AnyConfigurationKey) -> String {
        let presence = key.defaultText.map { "default \($0)" } ?? (key.isRequired ? "required" : "optional")
        let file = key.takesFile ? " or \(key.name)\(ConfigurationNames.fileSuffix)" : ""
        return "\(key.name)\(file) (\(key.kind); \(presence))\n  \(key.help)"
    }
}
