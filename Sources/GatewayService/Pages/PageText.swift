import HTTPJSON
import JOSE

/// The sentences of the pages in one language. ``Key`` lists them; the files of the folder Languages have them, each a language.
struct PageText: Sendable {
    /// The longest sentence, in bytes.
    static let sentenceBytesMax = 1000

    /// The language (BCP 47).
    let language: String
    private let sentences: [Key: String]
    /// How many sentences its file has.
    let ownCount: Int

    /// A language, of which `base` has what it lacks.
    ///
    /// - Throws: all that is wrong with the file: ``PageTextError``.
    init(_ language: String, parsing json: some Collection<UInt8>, base: PageText? = nil) throws(PageTextErrors) {
        self.language = language
        let own = try Self.sentences(json, like: base)
        sentences = (base?.sentences ?? [:]).merging(own) { _, own in own }
        ownCount = own.count
    }

    /// A sentence.
    subscript(key: Key) -> String { sentences[key] ?? key.rawValue }

    /// A sentence with its placeholders filled in.
    subscript(key: Key, values: KeyValuePairs<String, String>) -> String {
        let parts = self[key].split(separator: "{", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { sentence, part in
            let name = part.prefix { $0 != "}" }
            guard let value = values.first(where: { $0.key == name }) else {
                sentence += "{\(part)"
                return
            }
            sentence += isolated(value.value) + part.dropFirst(name.count + 1)
        }
    }

    /// A sentence as HTML.
    func html(_ key: Key, _ values: KeyValuePairs<String, String> = [:]) -> String {
        HTMLText.escaped(self[key, values])
    }

    /// The sentence for an error's code (errors.proto); nil for those that no user meets.
    func sentence(ofCode code: String) -> String? { Key(code: code).map { self[$0] } }

    /// The direction of the language's script, for the attribute `dir`.
    var direction: String { LanguageTag.isRightToLeft(language) ? "rtl" : "ltr" }

    /// A value in a sentence: its direction must not turn the words around it (Unicode standard annex 9, FSI and PDI).
    private func isolated(_ value: String) -> String {
        guard direction == "rtl" || !value.utf8.allSatisfy({ $0 < 0x80 }) else { return value }
        return "\u{2068}\(value)\u{2069}"
    }

    /// The placeholders of a sentence, in the order of their names: words in braces.
    static func placeholders(_ sentence: String) -> [String] {
        sentence.split(separator: "{", omittingEmptySubsequences: false).dropFirst()
            .compactMap { part in part.firstIndex(of: "}").map { String(part[..<$0]) } }
            .sorted()
    }
}

/// What is wrong with a file of a language, one line for each fault.
struct PageTextErrors: Error, Sendable, Hashable {
    let faults: [String]
}

extension PageText {
    private static let limits = JSONLimits(bytesMax: 256 * 1024, depthMax: 1, valuesMax: 1 + Key.allCases.count * 2)

    private static func sentences(
        _ json: some Collection<UInt8>,
        like base: PageText?
    ) throws(PageTextErrors) -> [Key: String] {
        let object: JSONObject
        do {
            object = try JSONObject(parsing: json, limits: limits)
        } catch {
            throw PageTextErrors(faults: ["it is no JSON object of sentences: \(error)"])
        }
        var sentences: [Key: String] = [:]
        var faults: [String] = []
        for member in object.members {
            guard let key = Key(rawValue: member.name) else {
                faults.append("there is no sentence \(member.name.debugDescription)")
                continue
            }
            guard let sentence = member.value.string, 1...sentenceBytesMax ~= sentence.utf8.count else {
                faults.append("\(member.name) must be a text of 1 to \(sentenceBytesMax) bytes")
                continue
            }
            let expected = placeholders(base?[key] ?? sentence)
            if placeholders(sentence) != expected {
                let names = expected.map { "{\($0)}" }.joined(separator: ", ")
                faults.append("\(member.name) must have \(names.isEmpty ? "no placeholders" : names), each once")
            }
            sentences[key] = sentence
        }
        guard faults.isEmpty else { throw PageTextErrors(faults: faults) }
        return sentences
    }
}
