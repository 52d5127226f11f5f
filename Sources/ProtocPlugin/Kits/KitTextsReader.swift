import Foundation

/// Reads the texts of errors from the languages of the gateway's pages, so that an app and a page say the same.
struct KitTextsReader {
    /// Codes of the kits' own, and the code of the server that means the same to a user.
    private static let ownCodes = [
        "BAD_RESPONSE": "UNAVAILABLE", "NETWORK": "UNAVAILABLE", "SIGNED_OUT": "SESSION_EXPIRED",
        "STORE_FAILED": "UNAVAILABLE", "STORE_UNREADABLE": "SESSION_EXPIRED", "TIMEOUT": "UNAVAILABLE",
    ]
    /// The sentence of the pages for an error that has none of its own, and the code under which kits have it.
    private static let other = (key: "noticeFailed", name: "OTHER")
    private static let first = "en"

    /// The folder `Sources/GatewayService/Pages`.
    let folder: URL

    /// - Throws: what can't be read, or has another form than it had.
    func texts() throws -> [KitTexts] {
        let meanings = try meanings().merging(Self.ownCodes) { _, own in own }
        let languages = folder.appending(path: "Languages")
        let names = try FileManager.default.contentsOfDirectory(atPath: languages.path()).sorted()
        let tags = try tags()
        let texts = try names.map { name in
            let source = try String(contentsOf: languages.appending(path: name), encoding: .utf8)
            guard let variable = source.firstMatch(of: /static let (\w+) = #"""\n(.*)"""#/.dotMatchesNewlines()),
                let tag = tags[String(variable.1)],
                let all = try JSONSerialization.jsonObject(with: Data(variable.2.utf8)) as? [String: String],
                let other = all[Self.other.key]
            else { throw GeneratorError.unreadableTexts(file: name) }
            var sentences = all.filter { $0.key.first?.isUppercase == true }
            for (code, meaning) in meanings { sentences[code] = all[meaning] }
            sentences[Self.other.name] = other
            return KitTexts(
                language: tag,
                sentences: sentences.sorted { $0.key < $1.key }.map { (code: $0.key, sentence: $0.value) }
            )
        }
        return texts.filter { $0.language == Self.first } + texts.filter { $0.language != Self.first }
    }

    /// Codes that mean to a user what another one does.
    private func meanings() throws -> [String: String] {
        let name = "PageText+Key.swift"
        let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let pairs = source.matches(of: /"([A-Z_]+)": "([A-Z_]+)"/)
        guard !pairs.isEmpty else { throw GeneratorError.unreadableTexts(file: name) }
        return Dictionary(pairs.map { (String($0.1), String($0.2)) }) { _, last in last }
    }

    /// The tags of the languages, by the names of the variables that have them.
    private func tags() throws -> [String: String] {
        let name = "PageLanguages.swift"
        let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let pairs = source.matches(of: /builtIn\("([\w-]+)", PageText\.(\w+)/)
        guard !pairs.isEmpty else { throw GeneratorError.unreadableTexts(file: name) }
        return Dictionary(pairs.map { (String($0.2), String($0.1)) }) { _, last in last }
    }
}
