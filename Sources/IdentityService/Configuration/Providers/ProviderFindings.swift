import ServiceKit

/// The findings while providers were read: all errors, and hints for the operator. None of them shows a secret. One instance
/// belongs to one reading, on one thread.
final class ProviderFindings {
    private(set) var faults: [ConfigurationError] = []
    private(set) var hints: [ConfigurationError] = []

    /// Adds an error that keeps the service from starting.
    func fault(_ key: String, _ problem: String) {
        faults.append(ConfigurationError(key: key, problem: problem))
    }

    /// Adds a hint about a setting that works, but not as one may expect, or not for ever.
    func hint(_ key: String, _ problem: String) {
        hints.append(ConfigurationError(key: key, problem: problem))
    }

    /// A value as a finding shows it: quoted, without control characters, cut.
    static func quoted(_ text: String) -> String {
        let shown = String(text.unicodeScalars.prefix(60)).printable
        return "\"\(shown)\(shown.unicodeScalars.count < text.unicodeScalars.count ? "…" : "")\""
    }
}
