import API
import Testing

@testable import GatewayService

/// The sentences of the pages, in every language.
struct PageTextTests {
    private static let english = PageLanguages.builtIn.fallback

    private static func faults(_ json: String) -> [String] {
        do {
            _ = try PageText("de", parsing: json.utf8, base: english)
            return []
        } catch {
            return error.faults
        }
    }

    @Test(arguments: [
        ("en", PageText.english), ("ar", PageText.arabic), ("de", PageText.german), ("es", PageText.spanish),
        ("fil", PageText.filipino), ("ja", PageText.japanese),
    ])
    func `Each language has every sentence`(tag: String, json: String) throws {
        // Without a base, what is missing has no sentence: its key stands there.
        let text = try PageText(tag, parsing: json.utf8)
        #expect(PageText.Key.allCases.filter { text[$0] == $0.rawValue } == [])
        for key in PageText.Key.allCases {
            #expect(PageText.placeholders(text[key]) == PageText.placeholders(Self.english[key]), "\(tag) \(key)")
            #expect(!text[key].contains("'") && text[key].first?.isWhitespace == false, "\(tag) \(key)")
        }
        // A sentence that was left as it is in English; names of buttons may be the same.
        let same = PageText.Key.allCases.filter { text[$0] == Self.english[$0] }
        #expect(tag == "en" || same.count < 4, "\(tag) \(same)")
        #expect(PageLanguages.builtIn[tag]?.language == tag)
    }

    @Test func `Every file of a language is among the languages`() {
        #expect(PageLanguages.builtIn.tags == ["ar", "de", "en", "es", "fil", "ja"])
    }

    @Test func `A file's faults are all named`() {
        let json = #"{"signIn": "", "signInTo": "Bei {klient}", "back": 3, "sign_in": "x", "forward": "Weiter {x}"}"#
        #expect(
            Self.faults(json) == [
                "signIn must be a text of 1 to 1000 bytes",
                "signInTo must have {client}, each once",
                "back must be a text of 1 to 1000 bytes",
                "there is no sentence \"sign_in\"",
                "forward must have no placeholders, each once",
            ]
        )
        #expect(Self.faults(#"{"signInTo": "{client} {client}"}"#).count == 1)
        #expect(Self.faults(#"{"back": "\#(String(repeating: "x", count: 1001))"}"#).count == 1)
        #expect(Self.faults(#"{"back": "a", "back": "b"}"#).count == 1)
        #expect(Self.faults("[]").count == 1)
        #expect(Self.faults(#"{"back": "Zurück", "signInTo": "{client}: anmelden"}"#) == [])
    }

    @Test func `What a file lacks is its base's`() throws {
        let text = try PageText("de-AT", parsing: #"{"back": "Retour"}"#.utf8, base: PageLanguages.builtIn["de"])
        #expect(text[.back] == "Retour" && text[.signIn] == "Anmelden" && text.language == "de-AT")
    }

    @Test func `Values are filled in once, and keep the sentence's direction`() throws {
        #expect(Self.english[.signInTo, ["client": "Shop {client}"]] == "Sign in to Shop {client}")
        #expect(Self.english[.signInTo, ["client": "متجر"]] == "Sign in to \u{2068}متجر\u{2069}")
        let arabic = try #require(PageLanguages.builtIn["ar"])
        #expect(arabic[.signInTo, ["client": "Shop!"]] == "تسجيل الدخول إلى \u{2068}Shop!\u{2069}")
        #expect(Self.english.html(.signInTo, ["client": "<b>"]) == "Sign in to &lt;b&gt;")
    }

    @Test func `Sentences for errors are of codes that exist`() {
        for key in PageText.Key.allCases where key.rawValue.first?.isUppercase == true {
            #expect(ErrorCode.named(key.rawValue) != nil, "\(key.rawValue)")
        }
        for (code, meaning) in PageText.Key.meanings {
            #expect(ErrorCode.named(code) != nil && PageText.Key(rawValue: code) == nil, "\(code)")
            #expect(PageText.Key(rawValue: meaning) != nil, "\(meaning)")
        }
        #expect(Self.english.sentence(ofCode: "SESSION_REVOKED") == Self.english[.sessionExpired])
        #expect(Self.english.sentence(ofCode: "JSON_MALFORMED") == nil)
        #expect(Self.english.sentence(ofCode: "signIn") == nil)
    }
}
