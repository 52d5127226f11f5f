import JOSE
import ServiceKit

/// Which file a command works on, and the configuration beside it.
struct CommandPlace: Sendable {
    /// The file.
    let path: String
    /// Whether the configuration names this file.
    let isConfigured: Bool
    /// The key that names it.
    let key: String
    let configurationPath: String?
    let environment: [String: String]

    /// The file that the command names, or else the configuration.
    ///
    /// - Parameters:
    ///   - path: what the command names; nil if it names none.
    ///   - key: the key that names it in the configuration.
    ///   - configurationPath: the configuration file; nil to use VESTIBULE_CONFIG.
    ///   - environment: the process's variables.
    init(
        path: String?,
        key: String,
        configurationPath: String?,
        environment: [String: String]
    ) throws(CommandError) {
        let pathKey = ConfigurationKey.optionalPath(key, help: "")
        let configured: String?
        do throws(ConfigurationErrors) {
            configured = try Configuration.load(
                only: [pathKey],
                path: configurationPath,
                environment: environment
            )[pathKey]
        } catch {
            throw CommandError(lines: error.faults.map(\.description))
        }
        guard let file = path ?? configured, !file.isEmpty else {
            throw CommandError("name the file by --file, or in the configuration by \(key)", isUsage: true)
        }
        self.path = file
        isConfigured = file == configured
        self.key = key
        self.configurationPath = configurationPath
        self.environment = environment
    }

    /// Reads some keys as if the file had this content, and other files as they are.
    func configuration(
        _ keys: [any AnyConfigurationKey],
        environment: [String: String],
        contents: [String: [UInt8]]
    ) throws(ConfigurationErrors) -> Configuration {
        try Configuration.load(only: keys, path: nil, environment: environment) {
            (path, bytesMax) throws(FileError) in
            guard let content = contents[path] else { return try FileBytes.read(path, bytesMax: bytesMax) }
            guard content.count <= bytesMax else { throw FileError("is longer than \(bytesMax) bytes") }
            return content
        }
    }

    /// What to do with a file that no configuration names.
    var remarks: [String] { isConfigured ? [] : ["identity reads it if \(key) names it"] }
}

/// What a command prints.
public struct CommandOutcome: Sendable, Hashable {
    /// The lines of standard output: the result.
    public var output: [String] = []
    /// The lines of standard error: what was done.
    public var remarks: [String] = []
}

/// Members of an entry that have no option: `member=value`, whose value is JSON, or else a text.
enum SetMembers {
    /// The option.
    static let flag = "set"

    /// The members that the answers have.
    ///
    /// - Parameter id: the member that names the entry, which has an argument of its own.
    static func read(_ answers: CommandAnswers, id: String) throws(CommandError) -> [JSONObject.Member] {
        var members: [JSONObject.Member] = []
        for text in answers.all(flag) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty, parts[0] != id else {
                throw CommandError("--set must be member=value, and not \(id)", isUsage: true)
            }
            members.append(JSONObject.Member(name: parts[0], value: value(parts[1])))
        }
        return members
    }

    private static func value(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8))) ?? .string(text)
    }
}
