import API
import HTTPJSON
import HTTPTypes
import SwiftProtobuf
import Testing
import WebPages

@testable import GatewayService

/// The logo and the colour of a client on its users' pages.
struct ClientLookTests {
    private static func page(_ logo: String, _ color: String, _ name: String = "Shop") async throws
        -> OpenIDStage.Answer
    {
        let stage = try OpenIDStage()
        stage.authorize {
            ($0.signIn.request, $0.signIn.clientName) = (OpenIDStage.sealed, name)
            ($0.signIn.clientLogoUri, $0.signIn.clientColor) = (logo, color)
        }
        return try await stage.get("/oauth2/authorize")
    }

    @Test func `The logo is loaded from its own origin alone`() async throws {
        let logo = "https://cdn.example.com:8443/a.png?x=1&y=\"2"
        let answer = try await Self.page(logo, "", "A \"B\"")
        #expect(answer.policy.contains("img-src 'self' https://cdn.example.com:8443;"))
        let image = try #require(try answer.page["img"])
        #expect(image == ["class": "logo", "src": logo, "alt": "A \"B\"", "width": "64", "height": "64"])
    }

    @Test(arguments: [
        "", "http://cdn.example.com/a.png", "data:image/png;base64,AA", "https://a;script-src *.example/",
    ])
    func `No other logo is shown`(logo: String) async throws {
        let answer = try await Self.page(logo, "")
        #expect(answer.policy.contains("img-src 'self';"))
        #expect(try answer.page["img"] == nil)
    }

    @Test func `A colour is a style of its own, kept by browsers`() async throws {
        let page = try await Self.page("", "#1D4FC4").page
        let sheets = page.elements.filter { $0.attributes["rel"] == "stylesheet" }
        let addresses = sheets.compactMap { $0.attributes["href"] }
        let address = try #require(addresses.last)
        #expect(addresses.count == 2 && address.hasPrefix("/pages/color/1d4fc4.css?v="))
        let stage = try OpenIDStage()
        let style = try await stage.get(address)
        #expect(style.status == 200 && style.headers[.contentType] == "text/css; charset=utf-8")
        #expect(style.headers[.cacheControl] == "public, max-age=31536000, immutable")
        #expect(style.text.contains("--strong: #1d4fc4; --on-strong: #ffffff; --link: #1d4fc4;"))
        #expect(try await stage.get("/pages/color/1d4fc4.css").headers[.cacheControl] == "no-cache")
    }

    @Test(arguments: ["", "1d4fc4", "#1d4fc", "#1d4fc45", "#1d4fcg", "#+d4fc4", "red", "#1d4fc4;"])
    func `No other text is a colour`(color: String) async throws {
        #expect(try await Self.page("", color).page.elements.count { $0.attributes["rel"] == "stylesheet" } == 1)
    }

    @Test(arguments: [
        "1d4fc4", "1D4FC4.css", "1d4fc.css", "1d4fc45.css", "-d4fc4.css", "1d4fc4.css.css", "%31d4fc4.css%00",
    ])
    func `No other path is a style`(name: String) async throws {
        #expect(try await OpenIDStage().get("/pages/color/\(name)").status == 404)
    }

    @Test(arguments: [
        ("000000", 21.0), ("ffffff", 1), ("767676", 4.54), ("0866ff", 4.82), ("ff0000", 4.0), ("00ff00", 1.37),
    ])
    func `Contrast with white`(digits: String, contrast: Double) throws {
        let color = try #require(PageColor(digits: digits))
        #expect(color.digits == digits)
        #expect(abs(color.contrast(with: .white) - contrast) < 0.01)
        #expect(color.contrast(with: .white) == PageColor.white.contrast(with: color))
    }

    /// A grid over all colours.
    @Test func `Every colour can be read on the card, and every word on the colour`() throws {
        let steps = stride(from: 0, through: 255, by: 17).map(UInt8.init)
        for red in steps {
            for green in steps {
                for blue in steps {
                    let color = PageColor(red: red, green: green, blue: blue)
                    #expect(color.contrast(with: color.onIt) >= PageColor.textContrastMin)
                    for card in [PageStyle.lightCard, PageStyle.darkCard] {
                        let readable = color.readable(on: card)
                        #expect(readable.contrast(with: card) >= PageColor.textContrastMin)
                        if color.contrast(with: card) >= PageColor.textContrastMin { #expect(readable == color) }
                    }
                }
            }
        }
    }
}
