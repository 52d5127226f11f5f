import Glibc
import ServiceKit

/// The configuration of the programs of a running local stack, in a file for operators' commands.
public enum OperatorEnvironment {
    /// Its name in the stack's folder.
    static let fileName = "operator.env"

    /// Commands that ask the programs of a running system or their databases.
    static let commands: Set = [
        "check", "sessions", "work", "account", "apple-transfer", "import", "status", "console", "backup", "upgrade",
        "doctor",
    ]

    /// The file that a command takes for its configuration, if it was given none: that of the stack which runs here. Nil if there
    /// is none, or if the environment has any variable of a deployment.
    ///
    /// - Parameter arguments: the command's, without the program's name.
    public static func path(arguments: [String], environment: [String: String]) -> String? {
        guard let command = arguments.first, commands.contains(command),
            !arguments.contains(where: { $0 == "--config" || $0.hasPrefix("--config=") }),
            !environment.contains(where: {
                $0.key.hasPrefix(ConfigurationNames.prefix) && !$0.key.hasPrefix(runPrefix) && !$0.value.isEmpty
            })
        else { return nil }
        let path = "\(environment[StackKeys.folder.name] ?? StackKeys.defaultFolder)/\(fileName)"
        return access(path, R_OK) == 0 ? path : nil
    }

    /// Writes the file, which only this user can read, as it may have secrets of the developer's variables.
    ///
    /// - Parameters:
    ///   - environment: of the programs.
    ///   - entries: of the configuration file that the programs read, if any.
    static func write(_ environment: [String: String], entries: [String: String], to path: String) throws {
        var own = environment.filter { $0.key.hasPrefix(ConfigurationNames.prefix) && !$0.key.hasPrefix(runPrefix) }
        own[ConfigurationNames.file] = nil
        let lines = entries.merging(own) { _, variable in variable }.sorted { $0.key < $1.key }
            .filter { !$0.value.isEmpty && !$0.value.contains(where: \.isNewline) }
            .map { "\($0.key)=\($0.value)\n" }
        let text = "# Made by `vestibule run`, for commands such as `vestibule status` beside it.\n" + lines.joined()
        let bytes = Array(text.utf8)
        if try !FileBytes.create(path, mode: 0o600, { bytes }) { try FileBytes.rewrite(path, mode: 0o600, bytes) }
    }

    private static let runPrefix = "\(ConfigurationNames.prefix)RUN_"
}
