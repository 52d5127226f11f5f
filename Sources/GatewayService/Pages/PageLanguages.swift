import HTTPJSON
import HTTPTypes

/// The languages of the pages, and which one a request gets.
struct PageLanguages: Sendable {
    /// By tags in lower case.
    private let texts: [String: PageText]
    /// The language of users who ask for none of the others: English.
    let fallback: PageText

    /// Languages, of which the first one is the fallback.
    init(_ fallback: PageText, _ others: [PageText]) {
        self.fallback = fallback
        texts = Dictionary(([fallback] + others).map { ($0.language.lowercased(), $0) }) { _, last in last }
    }

    /// The tags, sorted.
    var tags: [String] { texts.values.map(\.language).sorted() }

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
