import IdentityDomain
import JOSE
import ServiceKit

/// The providers file: all settings of providers and their audiences, as JSON.
enum ProvidersFile {
    /// The maximum of bytes of a file, and of providers in it.
    static let bytesMax = 256 * 1024
    static let providersMax = 32
    /// 32 providers of 64 audiences of 20 values each, and some more.
    static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 8, valuesMax: 65_536)

    /// The content of a file.
    struct Content {
        /// The valid providers.
        var providers: [ProviderName: ProviderConfiguration] = [:]
        /// The names of all providers, also of invalid ones.
        var names: Set<ProviderName> = []
    }

    /// Reads the providers of a file; reports all errors at once.
    static func read(
        _ file: ConfiguredFile,
        rules: ProviderRules,
        _ findings: ProviderFindings
    ) -> Content {
        let key = IdentityKeys.providersFile.name
        let object: JSONObject
        do {
            object = try JSONObject(parsing: file.content.bytes, limits: limits)
        } catch {
            findings.fault(key, "holds no JSON object: \(error.words(limits, file.content.bytes))")
            return Content()
        }
        for member in object.members where member.name != "providers" {
            findings.fault(key, "has an unknown member \(ProviderFindings.quoted(member.name))")
        }
        guard let elements = object["providers"]?.array, elements.count <= providersMax else {
            findings.fault(key, "must hold an array \"providers\" of at most \(providersMax)")
            return Content()
        }
        var content = Content()
        for (index, element) in elements.enumerated() {
            guard let entry = element.object else {
                findings.fault(key, "provider \(index + 1): is no object")
                continue
            }
            guard let name = entry["name"]?.string.flatMap({ ProviderName($0) }) else {
                findings.fault(
                    key,
                    "provider \(index + 1): \"name\" must be up to \(ProviderName.charactersMax) lowercase letters, "
                        + "digits, _ and -, beginning with a letter"
                )
                continue
            }
            guard !ProviderName.reserved.contains(name.value) else {
                findings.fault(
                    key,
                    "provider \(index + 1): \"name\" must not be \(name): a path of ours, /auth/\(name), is called so"
                )
                continue
            }
            if !content.names.insert(name).inserted { findings.fault(key, "provider \"\(name)\": is there twice") }
            content.providers[name] = ProviderEntry(entry, name: name, file: file, rules: rules, findings).read()
        }
        return content
    }
}
