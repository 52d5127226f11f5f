import API
import HTTPTypes
import Testing

@testable import GatewayService

/// Which language a page is in.
struct PageLanguagesTests {
    @Test(arguments: [
        ("de", ["de"]), ("de-AT, en;q=0.5", ["de-AT", "en"]), ("en;q=0.5, de", ["de", "en"]),
        ("a b, *, fil ; q=0.9 ,\tja;q=0.91", ["ja", "fil"]), ("de;q=0, es;q=0.001, ar;q=0.000", ["es"]),
        ("de, es, ja", ["de", "es", "ja"]), ("de;q=1.1, es;q=2, ja;q=, ar;q=.5, fil;q=0.1234, en;x=1", []),
        ("DE;Q=1.000,es;q=1.001", ["DE"]), ("", []), (",,", []), ("de;q=0.5;q=1", []), ("d", []), ("de_AT", []),
        ("abcdefghi, 12, de--AT, zh-Hant-TW", ["zh-Hant-TW"]),
    ])
    func `Accept-Language by weight`(field: String, ranges: [String]) {
        #expect(LanguageRanges.ofBrowser(field) == ranges)
    }

    @Test func `What is read of a field is bounded`() {
        let many = (0..<100).map { "x\(Character(Unicode.Scalar(97 + $0 % 26)!))" }.joined(separator: ",")
        #expect(LanguageRanges.ofBrowser(many).count == LanguageRanges.countMax)
        #expect(LanguageRanges.ofBrowser(String(repeating: " ", count: 512) + "de") == [])
        #expect(LanguageRanges.ofClient(String(repeating: "de ", count: 200)).count == LanguageRanges.countMax)
        #expect(LanguageRanges.ofClient("fr-CA  en é *") == ["fr-CA", "en"])
        _ = LanguageRanges.ofBrowser(String(repeating: "é", count: 300))
    }

    @Test(arguments: [
        (["de-AT"], "de"), (["DE"], "de"), (["fr", "ja-JP"], "ja"), (["es-419"], "es"), (["zh-Hant-TW"], "en"),
        (["tl"], "fil"), (["tl-PH"], "fil"), (["ar-x-private"], "ar"), ([], "en"), (["en-GB", "de"], "en"),
    ])
    func `The first range that a language is found for`(ranges: [String], language: String) {
        #expect(PageLanguages.builtIn.text(for: ranges).language == language)
    }

    @Test func `A longer tag is found before a shorter one`() throws {
        let languages = PageLanguages.builtIn
        let austrian = try PageText("de-AT", parsing: "{}".utf8, base: languages["de"])
        let german = try #require(languages["de"])
        let all = PageLanguages(languages.fallback, [austrian, german])
        #expect(all.text(for: ["de-at-1996"]).language == "de-AT")
        #expect(all.text(for: ["de-CH"]).language == "de")
    }

    @Test(arguments: [
        ("ar", true), ("ar-EG", true), ("he", true), ("fa-IR", true), ("az-Arab", true), ("ar-Latn", false),
        ("de", false), ("zh-Hant-TW", false), ("pa-arab-PK", true),
    ])
    func `Which scripts run from right to left`(tag: String, isRightToLeft: Bool) {
        #expect(LanguageTag.isRightToLeft(tag) == isRightToLeft)
    }

    @Test(arguments: [
        ("", "", "en", "ltr"), ("", "ar-EG, en;q=0.8", "ar", "rtl"), ("ja", "ar", "ja", "ltr"),
        ("xx", "ar", "ar", "rtl"),
        ("fr fil", "de", "fil", "ltr"), ("", "xx", "en", "ltr"),
    ])
    func `A page is in the language of the client's request, else the browser's`(
        asked: String,
        field: String,
        language: String,
        direction: String
    ) async throws {
        let stage = try OpenIDStage()
        stage.authorize { ($0.signIn.request, $0.signIn.languages) = (OpenIDStage.sealed, asked) }
        let answer = try await stage.get("/oauth2/authorize", headers: [.acceptLanguage: field])
        let html = try #require(try answer.page["html"])
        #expect(html["lang"] == language && html["dir"] == direction)
        #expect(answer.headers[.contentLanguage] == language)
        #expect(answer.headers[.vary] == "Accept-Language")
        #expect(try answer.page.text.contains(try #require(PageLanguages.builtIn[language])[.signIn]))
    }

    @Test func `Pages about problems are in the browser's language`() async throws {
        let german: HTTPFields = [.acceptLanguage: "de"]
        let stage = try OpenIDStage(rateLimit: .init(auth: RequestRate(perSecond: 0.001, burst: 2)))
        stage.authorize { ($0.failure.reason, $0.failure.description_p) = ("REQUEST_EXPIRED", "The <request>.") }
        let expired = try await stage.get("/oauth2/authorize/continue?request=r", headers: german)
        #expect(expired.status == 400)
        let text = try expired.page.text
        #expect(text.contains("Diese Seite ist abgelaufen") && !text.contains("The <request>."))
        let faulty = try await stage.get("/oauth2/authorize/continue", headers: german)
        #expect(faulty.status == 400)
        #expect(try faulty.page.text.contains("kehren Sie zur App zurück"))
        let limited = try await stage.get("/oauth2/logout", headers: german)
        #expect(limited.status == 429 && limited.headers[.contentLanguage] == "de")
        #expect(try limited.page.text.contains("Zu viele Versuche. Warten Sie"))
    }

    @Test(arguments: [
        ("CLIENT_UNKNOWN", "This app isn’t known here", true), ("CLIENT_DISABLED", "This app is switched off", false),
        ("REQUEST_EXPIRED", "This page has expired", false), ("REDIRECT_INVALID", "The app asked for something", true),
        ("REQUEST_INVALID", "The app asked for something", true), ("ANOTHER", "The app asked for something", true),
    ])
    func `A failed request of an app has words for users, and beside them those for developers`(
        reason: String,
        words: String,
        hasDetail: Bool
    ) async throws {
        let stage = try OpenIDStage()
        stage.authorize { ($0.failure.reason, $0.failure.description_p) = (reason, "The <b> is wrong.") }
        let answer = try await stage.get("/oauth2/authorize?client_id=c", headers: [.acceptLanguage: "en"])
        #expect(answer.status == 400 && answer.location == nil)
        let page = try answer.page
        #expect(page.text.contains(words) && page.text.contains("The <b> is wrong.") == hasDetail)
        #expect(page["span"].map { $0 == ["lang": "en", "dir": "ltr"] } ?? !hasDetail)
    }
}
