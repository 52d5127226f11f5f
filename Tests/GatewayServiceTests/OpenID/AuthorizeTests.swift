import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The authorization endpoint, and how its answers get to clients.
struct AuthorizeTests {
    private static func parameter(_ name: String, _ value: String) -> IdentityV1.OAuthParameter {
        .with { ($0.name, $0.value) = (name, value) }
    }

    @Test func `Parameters go to identity in their order, with the browser's session`() async throws {
        let stage = try OpenIDStage()
        stage.authorize { $0.failure.error = "invalid_request" }
        _ = try await stage.get("/oauth2/authorize?b=2&a=%C3%A9+x&b=3", cookie: "x=1; \(OpenIDStage.session)")
        _ = try await stage.post("/oauth2/authorize", "state=a%26b", cookie: nil)
        _ = try await stage.get("/oauth2/authorize/continue?request=\(OpenIDStage.sealed)", cookie: OpenIDStage.session)
        let asked = stage.seen.authorized.withLock { $0 }
        #expect(asked.map { $0.parameters.map(\.name) } == [["b", "a", "b"], ["state"], []])
        #expect(asked.map { $0.parameters.map(\.value) } == [["2", "é x", "3"], ["a&b"], []])
        #expect(asked.map(\.browserToken) == ["browser-token", "", "browser-token"])
        #expect(asked.map(\.request) == ["", "", OpenIDStage.sealed])
    }

    @Test func `Two cookies of one name are none`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn()
        for cookie in ["\(OpenIDStage.session); \(OpenIDStage.session)", "vestibule-session=browser-token"] {
            #expect(try await stage.get("/oauth2/authorize", cookie: cookie).status == 200)
        }
        #expect(stage.seen.authorized.withLock { $0.allSatisfy { $0.browserToken.isEmpty } })
    }

    @Test(arguments: [
        ("https://app.example/cb", "https://app.example/cb?code=a%26b&state=%C3%A9%20%3D"),
        ("https://app.example/cb?x=1", "https://app.example/cb?x=1&code=a%26b&state=%C3%A9%20%3D"),
        ("https://app.example/cb?", "https://app.example/cb?code=a%26b&state=%C3%A9%20%3D"),
        ("com.example.app:/cb", "com.example.app:/cb?code=a%26b&state=%C3%A9%20%3D"),
    ])
    func `An answer goes by the query of the redirect URI`(uri: String, location: String) async throws {
        let stage = try OpenIDStage()
        stage.authorize {
            ($0.answer.redirectUri, $0.answer.responseMode) = (uri, "query")
            $0.answer.parameters = [Self.parameter("code", "a&b"), Self.parameter("state", "é =")]
        }
        let answer = try await stage.get("/oauth2/authorize?client_id=c")
        #expect(answer.status == 303 && answer.location == location)
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.referrerPolicy] == "no-referrer")
    }

    @Test(arguments: [
        ("https://app.example/cb?a=1", " https://app.example"), ("http://127.0.0.1:4711/cb", " http://127.0.0.1:4711"),
        ("http://[::1]:4711/cb", " http:"), ("com.example.app:/cb", " com.example.app:"),
        ("https://a;script-src *.example/", " https:"),
    ])
    func `An answer by form_post is a form that only the client gets`(uri: String, source: String) async throws {
        let stage = try OpenIDStage()
        stage.authorize {
            ($0.answer.redirectUri, $0.answer.responseMode) = (uri, "form_post")
            $0.answer.parameters = [Self.parameter("code", "c"), Self.parameter("state", #""><script>"#)]
        }
        let answer = try await stage.get("/oauth2/authorize?client_id=c")
        let page = try answer.page
        #expect(answer.status == 200)
        #expect(page["form"] == ["class": "forward", "method": "post", "action": uri])
        #expect(page.hiddenFields == [["code", "c"], ["state", #""><script>"#]])
        #expect(page["button"]?["type"] == "submit" && page.scripts == [""])
        #expect(answer.policy.contains("form-action 'self'\(source); base-uri 'none'"))
        #expect(answer.policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "))
        #expect(!answer.policy.contains("unsafe"))
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test func `A user who has to sign in gets a button for each provider`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn(client: #"<b>"O'Brien" & Co</b>"#, providers: ["apple", "google", "workforce"])
        let answer = try await stage.get("/oauth2/authorize?client_id=c")
        let page = try answer.page
        #expect(answer.status == 200)
        let links = page.elements.filter { $0.name == "a" }.map { $0.attributes["href"] }
        #expect(
            Array(links.compactMap(\.self).prefix(3))
                == ["apple", "google", "workforce"].map { "/sign-in/\($0)?request=\(OpenIDStage.sealed)" }
        )
        #expect(links.last == "/oauth2/authorize/continue?request=\(OpenIDStage.sealed)&cancelled=true")
        _ = try await stage.get("/oauth2/authorize/continue?request=\(OpenIDStage.sealed)&cancelled=true")
        #expect(stage.seen.authorized.withLock { $0.map(\.isCancelled) } == [false, true])
        for text in ["Sign in with Apple", "Sign in with Google", "Continue with Workforce"] {
            #expect(page.text.contains(text))
        }
        #expect(page.text.contains(#"Sign in to <b>"O'Brien" & Co</b>"#))
        #expect(page.elements.count { $0.name == "h1" } == 1 && page["html"] == ["lang": "en", "dir": "ltr"])
        #expect(answer.policy.contains("form-action 'self';") && answer.policy.contains("frame-ancestors 'none'"))
        #expect(answer.cookies.isEmpty)
    }

    @Test func `A client that names a provider skips the choice, but not after a failure`() async throws {
        let stage = try OpenIDStage()
        stage.showSignIn(provider: "google")
        let straight = try await stage.get("/oauth2/authorize?client_id=c")
        #expect(straight.status == 303 && straight.location == "/sign-in/google?request=\(OpenIDStage.sealed)")
        let again = try await stage.get("/oauth2/authorize/continue?request=\(OpenIDStage.sealed)&notice=cancelled")
        #expect(again.status == 200)
        #expect(try again.page.text.contains("You went back without signing in."))
        let strange = try await stage.get("/oauth2/authorize/continue?request=\(OpenIDStage.sealed)&notice=%3Cb%3E")
        #expect(strange.status == 303)
    }

    @Test func `An error without a client to send it to is a page`() async throws {
        let stage = try OpenIDStage()
        stage.authorize {
            ($0.failure.error, $0.failure.description_p) = ("invalid_request", "The <redirect_uri> is unknown.")
        }
        let answer = try await stage.get("/oauth2/authorize?client_id=c")
        #expect(answer.status == 400 && answer.location == nil)
        #expect(try answer.page.text.contains("The <redirect_uri> is unknown."))
    }

    @Test(arguments: [
        "/oauth2/authorize?a=%zz", "/oauth2/authorize/continue", "/oauth2/authorize/continue?request=",
        "/oauth2/authorize/continue?request=a&request=b",
        "/oauth2/authorize/continue?request=\(String(repeating: "a", count: 3073))",
    ])
    func `A malformed address is a page, and nobody is asked`(uri: String) async throws {
        let stage = try OpenIDStage()
        let answer = try await stage.get(uri)
        #expect(answer.status == 400)
        #expect(try answer.page.text.contains("go back to the app"))
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `Failures of ours are pages that ask to try again`() async throws {
        let stage = try OpenIDStage()
        stage.gateway.stubs.oauth.set { $0.authorize = { _, _ in throw RPCError(.unavailable, "inner words") } }
        let answer = try await stage.get("/oauth2/authorize?client_id=c")
        #expect(answer.status == 503 && answer.headers[.retryAfter] == "1")
        #expect(try answer.page.text.contains("in a moment") && !answer.text.contains("inner words"))
        stage.authorize { _ in }
        #expect(try await stage.get("/oauth2/authorize?client_id=c").status == 500)
    }

    @Test func `Requests are counted by address as those to auth are`() async throws {
        var policy = RateLimit.Policy()
        policy.auth = RequestRate(perSecond: 0.001, burst: 2)
        let stage = try OpenIDStage(rateLimit: policy)
        stage.showSignIn()
        var statuses: [Int] = []
        for uri in ["/oauth2/authorize", "/sign-in/apple", "/oauth2/userinfo"] {
            statuses.append(try await stage.send(.get, uri, from: "203.0.113.7:4000").status)
        }
        #expect(statuses == [200, 400, 429])
        let page = try await stage.send(.get, "/oauth2/authorize", from: "203.0.113.7:4000")
        #expect(page.status == 429 && page.headers[.retryAfter] != nil)
        #expect(try page.page.text.contains("Wait a moment"))
        #expect(try await stage.send(.get, "/pages/style.css", from: "203.0.113.7:4000").status == 200)
    }
}
