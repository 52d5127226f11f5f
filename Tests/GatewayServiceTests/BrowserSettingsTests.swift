import HTTPJSON
import HTTPTypes
import ServiceKit
import Testing

@testable import GatewayService

/// The settings for browsers: origins, app URLs, clients without state, and the pages.
struct BrowserSettingsTests {
    private static func settings(_ values: [String: String]) throws -> GatewaySettings {
        let configuration = try Configuration.testing(
            keys: GatewayServer.configurationKeys,
            program: GatewayServer.programName,
            [
                "VESTIBULE_IDENTITY_ADDRESS": "127.0.0.1:1", "VESTIBULE_PROFILE_ADDRESS": "127.0.0.1:1",
                "VESTIBULE_INVITES_ADDRESS": "127.0.0.1:1",
            ].merging(values) { $1 }
        )
        return try GatewaySettings(configuration)
    }

    @Test func `Without configuration nothing is allowed`() throws {
        let settings = try Self.settings([:])
        #expect(settings.webSignIn == nil)
        #expect(settings.routes.crossOrigin == nil)
        let gateway = try Self.settings(["VESTIBULE_GATEWAY_PUBLIC_URL": "https://api.example.com"])
        #expect(gateway.webSignIn == nil)
    }

    @Test func `The development configuration is parsed`() throws {
        let settings = try Self.settings([
            "VESTIBULE_GATEWAY_PUBLIC_URL": "http://127.0.0.1:8080/",
            "VESTIBULE_GATEWAY_ORIGINS": "http://localhost:3000,http://127.0.0.1:3000",
            "VESTIBULE_GATEWAY_APP_URLS": "awscognito://apple-callback, vestibule-demo://callback",
            "VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE": "com.example.services=awscognito://apple-callback",
        ])
        let webSignIn = try #require(settings.webSignIn)
        #expect(webSignIn.callbackURL == "http://127.0.0.1:8080/auth/apple/callback")
        #expect(webSignIn.appURLs.map(\.text) == ["awscognito://apple-callback", "vestibule-demo://callback"])
        #expect(webSignIn.withoutState.mapValues(\.text) == ["com.example.services": "awscognito://apple-callback"])
        #expect(webSignIn.onlyWithoutState?.text == "awscognito://apple-callback")
        #expect(settings.routes.crossOrigin != nil)
    }

    @Test func `Errors are reported with their keys`() throws {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Self.settings([
                "VESTIBULE_GATEWAY_ORIGINS": "https://app.example.com/",
                "VESTIBULE_GATEWAY_APP_URLS": "javascript:alert(1),app://ok",
                "VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE": "a=app://other,b",
            ])
        }
        let web = ["APP_URLS", "APPLE_WITHOUT_STATE", "APPLE_WITHOUT_STATE", "PUBLIC_URL", "ORIGINS"]
        #expect(error?.faults.map(\.key) == web.map { "VESTIBULE_GATEWAY_\($0)" })
        for url in ["https://api.example.com/path", "https://api.example.com?x", "https://API.example.com"] {
            let error = #expect(throws: ConfigurationErrors.self) {
                try Self.settings(["VESTIBULE_GATEWAY_PUBLIC_URL": url, "VESTIBULE_GATEWAY_APP_URLS": "app://ok"])
            }
            #expect(error?.faults.map(\.key) == ["VESTIBULE_GATEWAY_PUBLIC_URL"])
        }
    }

    @Test(arguments: [
        "awscognito://apple-callback", "com.example.app://signed-in", "https://example.com/app", "app://",
        "http://localhost:3000/callback", "http://127.0.0.1/callback", "app://x?a=1&b=%20",
    ])
    func `An app URL`(text: String) {
        #expect(AppURL(text)?.text == text)
    }

    @Test(arguments: [
        "", "app", "app:", "app:/x", "://x", "javascript:alert(1)", "javascript://%0aalert(1)", "JavaScript://x",
        "data:text/html,x", "data://x", "file:///etc/passwd", "vbscript://x", "blob://x", "intent://x", "about://blank",
        "http://example.com/app", "http://localhost@evil.example/", "https://user@example.com/", "https:///path",
        "app://x#fragment", "app://x y", "app://x\"", "app://x'", "app://x<", "app://x\\y", "app://x\r\nA: b",
        "app://é",
        "app://\u{202e}x", "app://x\u{2028}", "app://x?a=%zz", "app://x?code=1", "app://x?a=1&id%5ftoken=2",
        "app://x?state=1", "app://x?a=1&email=a%40b.c", "app://x?name=Ann", "app://x?user=1", "app://x?a?b",
        "app://x?ID_TOKEN=1", "app://x?Code=2", "app://x?code%5B%5D=x", "app://x?code%5B0%5D=x", "app://x?%43ode=1",
        "app://x?a=1&STATE%5Bx%5D", "app://x?id.token=1", "app://x?id%20token=1", "app://x?+code=1",
        "app://x?code%20=1",
        "app://x?%5Bid_token%5D=x", "app://x?id%5Btoken=x", "app://x?a%5Bb%5D=1", "app://x?a%5D=1",
        "app://x?%2563ode=1", "app://x?a=1;code=2", "app://x?%C5%BFtate=1", "app://x?code%00=1",
        "app://" + String(repeating: "a", count: 512),
    ])
    func `No app URL`(text: String) {
        #expect(AppURL(text) == nil)
    }

    @Test func `Parameters added to an app URL are escaped`() throws {
        let url = try #require(AppURL("app://x?a=1"))
        #expect(url.adding([("error", "a b&c=\"<\u{2028}")]) == "app://x?a=1&error=a%20b%26c%3D%22%3C%E2%80%A8")
        #expect(try #require(AppURL("app://x?")).adding([("code", "1")]) == "app://x?code=1")
    }

    @Test func `A page escapes all its values`() throws {
        let hostile = #"app://x?a="><script>alert('1')</script>&lt;\#u{2028}\#u{202e}"#
        let sentences = #"{"backToApp": "</title><script>", "backToAppText": "<img src=x onerror='a'>&amp;"}"#
        let page = BrowserPage.forward(to: hostile, in: try PageText("en", parsing: sentences.utf8))
        let html = String(decoding: page.body.bytes, as: UTF8.self)
        let parsed = try PageParser(html)
        #expect(try parsed.appURL == hostile)
        #expect(parsed.text.contains("</title><script>") && parsed.text.contains("<img src=x onerror='a'>&amp;"))
        #expect(!html.contains("<img"))
    }

    @Test func `The policy names the script by its hash`() {
        let page = BrowserPage.forward(to: "app://x", in: PageLanguages.builtIn.fallback)
        // printf %s 'location.replace(document.getElementById("app").href)' | openssl dgst -sha256 -binary | base64
        #expect(page.headers[.contentSecurityPolicy]?.hasSuffix("script-src 'sha256-\(Self.scriptHash)'") == true)
        let failure = BrowserPage.failure(
            .failed,
            .goBack,
            in: PageLanguages.builtIn.fallback,
            status: .badRequest
        )
        #expect(failure.headers[.contentSecurityPolicy]?.contains("script") == false)
    }

    private static let scriptHash = "idJ+M8xvIfNuotd9LHaSFJAENBnhTe42/VdK83GHcWQ="
}
