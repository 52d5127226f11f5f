/// A file that holds a secret, or a folder of such, and the name that it was given by.
struct ConfiguredSecretFile: Sendable, Hashable {
    let key: String
    let path: String

    /// Whether a value of that name is the path of one.
    static func isNamed(by name: String, kind: String) -> Bool {
        switch kind {
        case "secret": name.hasSuffix(ConfigurationNames.fileSuffix)
        case "path of a secret": true
        case "path": name.hasSuffix("_KEY_FILE") || name.hasSuffix("_KEYS_FOLDER")
        default: false
        }
    }
}
