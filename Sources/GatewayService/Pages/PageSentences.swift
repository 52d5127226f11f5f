import JOSE

/// The sentences of the pages, for operators who change or translate them.
public enum PageSentences {
    /// The tags of the program's languages.
    public static let languages = PageLanguages.builtIn.tags

    /// The sentences of a language as a JSON object, a line for each; nil for a language that the program doesn't have.
    public static func json(_ language: String) -> String? {
        guard let text = PageLanguages.builtIn[language] else { return nil }
        let lines = PageText.Key.allCases.map { key in
            let sentence = JSONValue.string(text[key]).serialized()
            return "  \"\(key.rawValue)\": \(String(decoding: sentence, as: UTF8.self))"
        }
        return "{\n\(lines.joined(separator: ",\n"))\n}"
    }
}
