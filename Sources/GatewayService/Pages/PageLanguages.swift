import HTTPJSON
import HTTPTypes

/// The languages of the pages, and which one a request gets.
struct PageLanguages: Sendable {
    private static let fallbackTag = "en"

    /// By tags in lower case.
    private var texts: [String: PageText]
    /// The language of users who ask for none of the others: English.
    private(set) var fallback: PageText
    /// How many sentences a language of the operator's lacks, by its tag. English ones stand in their place.
    private(set) var missingCounts: [String: Int] = [:]

    /// Languages, of which the first one is the fallback.
    init(_ fallback: PageText, _ others: [PageText]) {
        self.fallback = fallback
        texts = Dictionary(([fallback] + others).map { ($0.language.lowercased(), $0) }) { _, last in last }
    }

    /// The tags, sorted.
    var tags: [String] { texts.values.map(\.language).sorted() }

    /// Adds the file of a language, or replaces sentences of one that is there. A language that is new has what it lacks from the
    /// next wider one, such as `de-AT` from `de`, or else from English.
    ///
    /// - Throws: all that is wrong with the file.
    mutating func add(_ tag: String, parsing json: some Collection<UInt8>) throws(PageTextErrors) {
        let lookedUp = LanguageTag.preferred(tag.lowercased())
        let tag = texts[lookedUp]?.language ?? (lookedUp == tag.lowercased() ? tag : lookedUp)
        let base = text(for: [tag])
        let text = try PageText(tag, parsing: json, base: base)
        let isForeign = lookedUp != Self.fallbackTag && !lookedUp.hasPrefix("\(Self.fallbackTag)-")
        if isForeign, base.language == Self.fallbackTag {
            missingCounts[tag] = PageText.Key.allCases.count - text.ownCount
        }
        texts[lookedUp] = text
        if lookedUp == Self.fallbackTag { fallback = text }
    }

    /// The language with a tag; nil if there is none.
    subscript(tag: String) -> PageText? { texts[tag.lowercased()] }

    /// The language of a page: what the client asks for, else what the browser does, else English.
    ///
    /// - Parameter asked: `ui_locales` of OpenID Connect Core section 3.1.2.1.
    func text(for request: Request, asked: String = "") -> PageText {
        let ranges = LanguageRanges.ofClient(asked) + LanguageRanges.ofBrowser(request.headers[.acceptLanguage] ?? "")
        return text(for: ranges)
    }

    /// The language for ranges in the order of preference: the lookup of RFC 4647 section 3.4.
    func text(for ranges: [String]) -> PageText {
        for range in ranges {
            var rest = LanguageTag.preferred(range.lowercased())
            while !rest.isEmpty {
                if let text = texts[rest] { return text }
                rest = LanguageTag.shortened(rest)
            }
        }
        return fallback
    }
}

extension PageLanguages {
    /// The languages that are part of the program: a line for each file of the folder Languages.
    static let builtIn: PageLanguages = {
        let english = builtIn("en", PageText.english)
        return PageLanguages(
            english,
            [
                builtIn("ar", PageText.arabic, base: english),
                builtIn("de", PageText.german, base: english),
                builtIn("es", PageText.spanish, base: english),
                builtIn("fil", PageText.filipino, base: english),
                builtIn("ja", PageText.japanese, base: english),
            ]
        )
    }()

    private static func builtIn(_ tag: String, _ json: String, base: PageText? = nil) -> PageText {
        do {
            return try PageText(tag, parsing: json.utf8, base: base)
        } catch {
            preconditionFailure("the language \(tag): \(error.faults.joined(separator: "; "))")
        }
    }
}
