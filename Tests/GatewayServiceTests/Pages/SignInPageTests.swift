import API
import HTTPJSON
import HTTPTypes
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The buttons of the sign-in page, and what stands below them.
struct SignInPageTests {
    private static func page(_ providers: [String], names: [String] = []) -> IdentityV1.SignInPage {
        .with { ($0.request, $0.providers, $0.providerNames) = ("r", providers, names) }
    }

    private static func parsed(_ page: Page) throws -> PageParser {
        try PageParser(String(decoding: page.response.body.bytes, as: UTF8.self))
    }

    @Test(arguments: [
        ("en", ["Sign in with Apple", "Sign in with Google", "Continue with Facebook"]),
        ("de", ["Mit Apple anmelden", "Über Google anmelden", "Weiter mit Facebook"]),
        ("ja", ["Appleでサインイン", "Google でログイン", "Facebookで続行"]),
        ("ar", ["تسجيل الدخول باستخدام Apple", "تسجيل الدخول باستخدام حساب Google", "المتابعة باستخدام فيسبوك"]),
    ])
    func `Buttons have their providers' words and logos`(language: String, words: [String]) throws {
        let text = try #require(PageLanguages.builtIn[language])
        let parsed = try Self.parsed(.signIn(Self.page(["apple", "facebook", "google"]), nil, in: text))
        for label in words { #expect(parsed.text.contains(label)) }
        let styles = parsed.elements.filter { $0.name == "a" }.compactMap { $0.attributes["class"] }
        #expect(styles == ["button apple", "button facebook", "button google"])
        let images = parsed.elements.filter { $0.name == "img" }
        #expect(images.map { $0.attributes["src"] } == [PageAsset.appleWhite, .facebook, .google].map(\.address))
        #expect(
            images.allSatisfy {
                $0.attributes["alt"] == "" && $0.attributes["width"] == "20" && $0.attributes["height"] == "20"
            }
        )
        #expect(parsed["source"] == ["media": "(prefers-color-scheme: dark)", "srcset": PageAsset.appleBlack.address])
    }

    @Test func `Another provider is named as it is configured`() throws {
        let page = Self.page(["a", "keycloak", "staff"], names: ["", "<Acme> Login", ""])
        let text = try Self.parsed(.signIn(page, nil, in: PageLanguages.builtIn.fallback)).text
        #expect(text.contains("Continue with A") && text.contains("Continue with <Acme> Login"))
        #expect(text.contains("Continue with Staff"))
        // Identity of before knows no names.
        let former = try Self.parsed(.signIn(Self.page(["staff"]), nil, in: PageLanguages.builtIn.fallback)).text
        #expect(former.contains("Continue with Staff"))
    }

    @Test(arguments: [
        (SignInNotice.later, "google", 1), (.later, "other", 0), (.later, "", 0), (.cancelled, "google", 0),
        (.failed, "google", 0),
    ])
    func `Beside the button of a provider that is down stands so`(notice: SignInNotice, failed: String, count: Int)
        throws
    {
        let text = PageLanguages.builtIn.fallback
        let parsed = try Self.parsed(.signIn(Self.page(["apple", "google"]), notice, failed: failed, in: text))
        #expect(parsed.elements.count { $0.attributes["id"] == "down" } == count)
        let described = parsed.elements.filter { $0.attributes["aria-describedby"] == "down" }
        #expect(described.count == count && described.allSatisfy { $0.attributes["class"] == "button google" })
        #expect(parsed.text.contains(text[.providerDown]) == (count == 1))
    }

    @Test func `A provider that fails is the one that the page names`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn()
        // The stub of identity has no such sign-in.
        let begun = try await stage.get("/sign-in/google?request=\(OpenIDStage.sealed)")
        let location = try #require(begun.location)
        #expect(location.hasSuffix("&provider=google"))
        #expect(try await stage.get(location).status == 200)
    }

    @Test(arguments: [PageAsset.appleWhite, .appleBlack, .google, .facebook])
    func `Logos are files of ours, which can do nothing`(asset: PageAsset) async throws {
        let answer = try await OpenIDStage().get(asset.address)
        #expect(answer.status == 200 && answer.headers[.contentType] == "image/svg+xml")
        #expect(answer.policy.hasPrefix("default-src 'none'") && answer.text.hasPrefix("<svg xmlns="))
        #expect(answer.headers[.xContentTypeOptions] == "nosniff" && !answer.text.contains("\\"))
    }

    @Test func `The page about a lost account knows the way back, the providers and the operator`() async throws {
        var stage = try OpenIDStage()
        stage.showSignIn(providers: ["apple", "keycloak"])
        let page = try await stage.get("/oauth2/authorize", headers: [.acceptLanguage: "es"]).page
        let all = page.elements.filter { $0.name == "a" }.compactMap { $0.attributes["href"] }
        let help = try #require(all.first { $0.contains("/help?") })
        #expect(help == "/oauth2/authorize/help?request=\(OpenIDStage.sealed)&providers=apple&ui_locales=es")
        let answer = try await stage.get(help)
        #expect(answer.status == 200 && answer.headers[.contentLanguage] == "es")
        let links = try answer.page.elements.filter { $0.name == "a" }.map { $0.attributes["href"] }
        #expect(links == ["https://iforgot.apple.com/", "/oauth2/authorize/continue?request=\(OpenIDStage.sealed)"])
        #expect(try answer.page.text.contains("ponte en contacto con los responsables de la app"))
        #expect(stage.seen.authorized.withLock { $0.count } == 1)

        let bare = try await stage.get("/oauth2/authorize/help")
        #expect(try bare.page.elements.count { $0.name == "a" } == 3)
        #expect(try await stage.get("/oauth2/authorize/help?request=").status == 400)

        stage = try OpenIDStage(supportURL: "https://example.com/help?a=1&b=2")
        let supported = try await stage.get("/oauth2/authorize/help?providers=").page
        #expect(
            supported.elements.filter { $0.name == "a" }.map { $0.attributes["href"] } == [
                "https://example.com/help?a=1&b=2"
            ]
        )
        #expect(supported.text.contains("Contact support") && !supported.text.contains("the people who run the app"))
    }
}
