import ServiceKit

extension PageLanguages {
    /// How many languages a folder may have.
    private static let filesMax = 64
    /// The longest file of a language, in bytes.
    private static let fileBytesMax = 256 * 1024
    private static let suffix = ".json"

    /// The languages of a configuration: the program's, with those of the operator's folder over them.
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> PageLanguages {
        guard let folder = configuration[GatewayKeys.languagesFolder] else { return .builtIn }
        func note(_ problem: String) {
            faults.append(ConfigurationError(key: GatewayKeys.languagesFolder.name, problem: problem))
        }
        let files: [String]
        do {
            files = try FileBytes.names(inFolder: folder).filter { $0.hasSuffix(suffix) }
        } catch {
            note("names the folder \(folder), which \(error)")
            return .builtIn
        }
        guard files.count <= filesMax else {
            note("names the folder \(folder), which has more than \(filesMax) languages")
            return .builtIn
        }
        // English first, which the others fall back to, then de before de-AT.
        let tags = files.map { String($0.dropLast(suffix.utf8.count)) }
            .sorted {
                ($0.lowercased() == "en" ? 0 : $0.utf8.count, $0) < ($1.lowercased() == "en" ? 0 : $1.utf8.count, $1)
            }
        var languages = builtIn
        for tag in tags {
            let path = "\(folder)/\(tag)\(suffix)"
            guard LanguageTag.isTag(tag) else {
                note("names the folder, where \(path) is not named for a language, such as de.json or pt-BR.json")
                continue
            }
            do {
                let bytes = try FileBytes.read(path, bytesMax: fileBytesMax)
                try languages.add(tag, parsing: bytes)
            } catch let error as PageTextErrors {
                for fault in error.faults { note("names the folder, where in \(path) \(fault)") }
            } catch {
                note("names the folder, where \(path) \(error)")
            }
        }
        return languages
    }
}
