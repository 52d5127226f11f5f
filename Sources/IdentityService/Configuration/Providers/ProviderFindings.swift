import ServiceKit

/// What was found while providers were read: everything that is wrong, and what somebody should mend. None of it shows a
/// secret. One belongs to one reading, by one thread.
final class ProviderFindings {
    private(set) var faults: [ConfigurationError] = []
    private(set) var hints: [ConfigurationError] = []

    /// Something that keeps the service from starting.
    func fault(_ key: String, _ problem: String) {
        faults.append(ConfigurationError(key: key, problem: problem))
    }

    /// Something that works, but not as somebody may think, or not for ever.
    func hint(_ key: String, _ problem: String) {
        hints.append(ConfigurationError(key: key, problem: problem))
    }

    /// A value as a finding shows it: quoted, without control characters, cut.
    static func quoted(_ text: String) -> String {
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(60).map { $0.value < 0x20 ? "?" : $0 }))
        return "\"\(shown)\(shown.unicodeScalars.count < text.unicodeScalars.count ? "…" : "")\""
    }
}
