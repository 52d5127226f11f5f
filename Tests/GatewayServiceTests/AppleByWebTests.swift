import API
import APIDoubles
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import RPC
import SwiftProtobuf
import Synchronization
import Testing
import WebPages

@testable import GatewayService

/// `/auth/apple/start` and `/auth/apple/callback`.
struct AppleByWebTests {
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// The development configuration: two apps, one of which signs in by browsers without a state.
    static var webSignIn: WebSignIn {
        get throws {
            let app = try #require(AppURL("awscognito://apple-callback"))
            let other = try #require(AppURL("vestibule-demo://callback"))
            return WebSignIn(
                callbackURL: "https://api.example.com/auth/apple/callback",
                appURLs: [app, other],
                withoutState: ["com.example.services": app]
            )
        }
    }

    /// A browser without pages: it sends requests and returns the answers.
    struct Browser {
        let gateway: TestGateway

        init(limit: RateLimit.Policy = .init()) throws {
            gateway = TestGateway(rateLimit: limit, webSignIn: try webSignIn)
        }

        struct Page {
            let status: Int
            let headers: HTTPFields
            let text: String
            let closesConnection: Bool
        }

        func get(_ uri: String) async throws -> Page { try await send(.get, uri, [:], nil) }

        func post(_ form: String, cookie: String? = nil, type: String = "application/x-www-form-urlencoded")
            async throws
            -> Page
        {
            var headers: HTTPFields = [.contentType: type]
            headers[.cookie] = cookie
            return try await send(.post, "/auth/apple/callback", headers, form)
        }

        private func send(
            _ method: HTTPRequest.Method,
            _ uri: String,
            _ headers: HTTPFields,
            _ body: String?
        ) async throws -> Page {
            let client = HandlerClient(gateway.handler)
            let response = try await client.send(method, uri, headers: headers, body: Array((body ?? "").utf8))
            return Page(
                status: response.status.code,
                headers: response.headers,
                text: response.text,
                closesConnection: response.closesConnection
            )
        }
    }

    /// Makes identity accept the start and the end of every sign-in.
    private static func browser(
        appURL: String = "",
        limit: RateLimit.Policy = .init()
    ) throws -> (Browser, seen: Seen) {
        let browser = try Browser(limit: limit)
        let seen = Seen()
        browser.gateway.stubs.identity.set { answers in
            answers.beginWebSignIn = { request, _ in
                seen.begun.withLock { $0.append(request) }
                return .with {
                    $0.state = "vws1_state"
                    $0.authorizationURL = "https://appleid.apple.com/auth/authorize?state=vws1_state"
                }
            }
            answers.finishWebSignIn = { request, _ in
                seen.finished.withLock { $0.append(request) }
                return .with {
                    ($0.idTokenTicket, $0.codeTicket) = ("vit1_ticket", "vct1_ticket")
                    ($0.appURL, $0.clientID) = (appURL, "com.example.services")
                }
            }
        }
        return (browser, seen)
    }

    /// The requests that identity received.
    final class Seen: Sendable {
        let begun = Mutex<[IdentityV1.BeginWebSignInRequest]>([])
        let finished = Mutex<[IdentityV1.FinishWebSignInRequest]>([])
    }

    private static func cookie(state: String = "vws1_state", appURL: String = "vestibule-demo://callback?a=1") -> String
    {
        let setting = WebSignInCookie(state: state, appURL: appURL).setting
        return "other=1; \(setting.prefix { $0 != ";" })"
    }

    // MARK: The start

    @Test func `The browser is redirected to Apple with a cookie`() async throws {
        let (browser, seen) = try Self.browser()
        let page = try await browser.get(
            "/auth/apple/start?code_challenge=\(Self.challenge)&code_challenge_method=S256"
        )
        #expect(page.status == 303)
        #expect(page.headers[.location] == "https://appleid.apple.com/auth/authorize?state=vws1_state")
        #expect(page.headers[.cacheControl] == "no-store")
        let cookie = try #require(page.headers[.setCookie])
        #expect(cookie.hasPrefix("__Host-vestibule-apple=vws1_state."))
        #expect(cookie.hasSuffix("; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=None"))
        #expect(
            seen.begun.withLock { $0 } == [
                .with {
                    ($0.provider, $0.codeChallenge) = ("apple", Self.challenge)
                    $0.appURL = "awscognito://apple-callback"
                    $0.redirectUri = "https://api.example.com/auth/apple/callback"
                }
            ]
        )
    }

    @Test func `An app may give its URL with a query, and its client`() async throws {
        let (browser, seen) = try Self.browser()
        let page = try await browser.get(
            "/auth/apple/start?code_challenge=\(Self.challenge)&client_id=com.example.services"
                + "&app_url=vestibule-demo%3A%2F%2Fcallback%3Fflow%3D1"
        )
        #expect(page.status == 303)
        let request = try #require(seen.begun.withLock { $0.first })
        #expect(request.appURL == "vestibule-demo://callback?flow=1" && request.clientID == "com.example.services")
    }

    @Test(arguments: [
        ("", "code_challenge"), ("code_challenge=", "code_challenge"), ("code_challenge=short", "code_challenge"),
        ("code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw%2BcM", "code_challenge"),
        ("code_challenge=\(challenge)&code_challenge=\(challenge)", "code_challenge"),
        (
            "a=1&a=2&code_challenge=\(challenge)&app_url=awscognito://apple-callback&app_url=vestibule-demo://callback",
            "app_url"
        ),
        ("code_challenge=\(challenge)&code_challenge_method=plain", "code_challenge_method"),
        ("code_challenge=\(challenge)&app_url=evil://callback", "app_url"),
        ("code_challenge=\(challenge)&app_url=awscognito://apple-callback/more", "app_url"),
        ("code_challenge=\(challenge)&app_url=awscognito://apple-callback%23x", "app_url"),
        ("code_challenge=\(challenge)&app_url=awscognito://apple-callback%0d%0aSet-Cookie:%20a=b", "app_url"),
        ("code_challenge=\(challenge)&app_url=awscognito://apple-callback?id_token=mine", "app_url"),
        ("code_challenge=\(challenge)&app_url=awscognito://apple-callback?a%22b", "app_url"),
        ("code_challenge=\(challenge)&app_url=javascript:alert(1)", "app_url"),
        ("code_challenge=\(challenge)&app_url=", "app_url"),
    ])
    func `An invalid start redirects nowhere`(query: String, field: String) async throws {
        let (browser, seen) = try Self.browser()
        let page = try await browser.get("/auth/apple/start?\(query)")
        #expect(page.status == 400)
        #expect(page.headers[.location] == nil && page.headers[.setCookie] == nil)
        let fields = try JSONObject(parsing: Array(page.text.utf8))["fields"]?.array ?? []
        #expect(fields.map { $0.object?["field"] } == [.string(field)])
        #expect(seen.begun.withLock { $0.isEmpty })
    }

    // MARK: The callback

    @Test func `A form without state redirects to its client's app`() async throws {
        let (browser, seen) = try Self.browser()
        let user = FormFields.encode(#"{"name":{"firstName":"Ana","lastName":"Cruz"},"email":"ana@example.com"}"#)
        let page = try await browser.post("code=the.code&id_token=a.b.c&user=\(user)")
        #expect(page.status == 200)
        try Self.expectSafe(page)
        #expect(
            try PageParser(page.text).appURL
                == "awscognito://apple-callback?id_token=vit1_ticket&code=vct1_ticket"
        )
        #expect(page.headers[.setCookie] == nil, "this browser started no sign-in")
        #expect(
            seen.finished.withLock { $0 } == [
                .with {
                    ($0.provider, $0.idToken, $0.authorizationCode) = ("apple", "a.b.c", "the.code")
                    ($0.fullName, $0.email) = ("Ana Cruz", "ana@example.com")
                    $0.clientsWithoutState = ["com.example.services"]
                    $0.redirectUri = "https://api.example.com/auth/apple/callback"
                }
            ]
        )
        for secret in ["the.code", "a.b.c", "Ana", "example.com"] { #expect(!page.text.contains(secret)) }
    }

    @Test func `A form with state redirects to where the sign-in began`() async throws {
        let (browser, seen) = try Self.browser(appURL: "vestibule-demo://callback?a=1")
        let page = try await browser.post("code=c&id_token=t&state=vws1_state", cookie: Self.cookie())
        #expect(
            try PageParser(page.text).appURL == "vestibule-demo://callback?a=1&id_token=vit1_ticket&code=vct1_ticket"
        )
        #expect(page.headers[.setCookie]?.contains("Max-Age=0") == true)
        let request = try #require(seen.finished.withLock { $0.first })
        #expect(request.state == "vws1_state" && request.browserState == "vws1_state")
    }

    @Test func `An app URL that is no longer configured is not used`() async throws {
        let (browser, _) = try Self.browser(appURL: "gone://callback")
        let cookie = Self.cookie(appURL: "gone://callback")
        let page = try await browser.post("code=c&id_token=t&state=vws1_state", cookie: cookie)
        #expect(page.status == 403)
        try Self.expectSafe(page)
        #expect(try PageParser(page.text).appURL == nil)
    }

    @Test(arguments: [
        ("user_cancelled_authorize", "user_cancelled_authorize"), ("access_denied", "access_denied"),
        ("javascript:alert(1)", "server_error"), ("\"><script>alert(1)</script>", "server_error"),
        ("a&id_token=mine", "server_error"), ("access_denied\r\nLocation: evil", "server_error"),
    ])
    func `The app gets an error as a known word`(error: String, told: String) async throws {
        let (browser, seen) = try Self.browser()
        let form = "error=\(FormFields.encode(error))"
        let stateless = try await browser.post(form)
        #expect(stateless.status == 200)
        try Self.expectSafe(stateless)
        #expect(try PageParser(stateless.text).appURL == "awscognito://apple-callback?error=\(told)")
        let begun = try await browser.post("\(form)&state=vws1_state", cookie: Self.cookie())
        #expect(try PageParser(begun.text).appURL == "vestibule-demo://callback?a=1&error=\(told)")
        #expect(seen.finished.withLock { $0.isEmpty })
    }

    @Test func `A foreign state redirects nowhere`() async throws {
        let (browser, _) = try Self.browser()
        browser.gateway.stubs.identity.set {
            $0.finishWebSignIn = { _, _ in
                throw RPCError.domain(.unauthenticated, reason: "WEB_STATE_INVALID", message: "It was refused.")
            }
        }
        let cookies: [String?] = [
            nil, Self.cookie(state: "vws1_other"), Self.cookie() + "; " + Self.cookie(), "__Host-vestibule-apple=x",
            "__Host-vestibule-apple=" + String(repeating: "a", count: 5000) + ".YQ",
        ]
        for cookie in cookies {
            for form in ["error=access_denied&state=vws1_state", "code=c&id_token=t&state=vws1_state"] {
                let page = try await browser.post(form, cookie: cookie)
                #expect(page.status == 400)
                try Self.expectSafe(page)
                #expect(try PageParser(page.text).appURL == nil)
                #expect(page.headers[.wwwAuthenticate] == nil)
            }
        }
    }

    @Test(arguments: [
        "", "error=access_denied", "code=c&id_token=bad", "code=c&id_token=t", "error=a&state=vws1_other",
    ])
    func `A form forged by another site doesn't disturb a running sign-in`(form: String) async throws {
        let (browser, _) = try Self.browser()
        browser.gateway.stubs.identity.set {
            let finish = $0.finishWebSignIn
            $0.finishWebSignIn = { request, context in
                guard request.idToken == "t" else {
                    throw RPCError.domain(.unauthenticated, reason: "TOKEN_MALFORMED", message: "It was refused.")
                }
                return try await finish(request, context)
            }
        }
        let page = try await browser.post(form, cookie: Self.cookie())
        #expect(page.headers[.setCookie] == nil)
    }

    @Test func `The app gets the error of a refused token, and may retry while the provider is down`() async throws {
        let (browser, _) = try Self.browser()
        browser.gateway.stubs.identity.set {
            $0.finishWebSignIn = { request, _ in
                throw request.idToken == "bad"
                    ? RPCError.domain(.unauthenticated, reason: "TOKEN_SIGNATURE", message: "It was refused.")
                    : RPCError.domain(
                        .unavailable,
                        reason: "PROVIDER_UNAVAILABLE",
                        message: "later",
                        retryAfter: .seconds(3)
                    )
            }
        }
        let refused = try await browser.post("code=c&id_token=bad&state=vws1_state", cookie: Self.cookie())
        #expect(refused.status == 400)
        #expect(try PageParser(refused.text).appURL == "vestibule-demo://callback?a=1&error=server_error")
        #expect(refused.headers[.setCookie]?.contains("Max-Age=0") == true)
        let down = try await browser.post("code=c&id_token=good&state=vws1_state", cookie: Self.cookie())
        #expect(down.status == 503)
        #expect(down.headers[.retryAfter] == "3")
        #expect(down.headers[.setCookie] == nil, "the form can be sent again, which needs the cookie")
        try Self.expectSafe(down)
        #expect(try PageParser(down.text).appURL == nil)
    }

    @Test(arguments: [
        ("code=c&code=d&id_token=t", "application/x-www-form-urlencoded", 400),
        ("code=%zz&id_token=t", "application/x-www-form-urlencoded", 400),
        ("code=%ff&id_token=t", "application/x-www-form-urlencoded", 400),
        ((0..<65).map { "a\($0)=1" }.joined(separator: "&"), "application/x-www-form-urlencoded", 400),
        (#"{"code":"c","id_token":"t"}"#, "application/json", 415),
        ("user=" + String(repeating: "a", count: 100_000), "application/x-www-form-urlencoded", 413),
    ])
    func `A malformed form is answered by a page`(body: String, type: String, status: Int) async throws {
        let (browser, seen) = try Self.browser()
        let page = try await browser.post(body, type: type)
        #expect(page.status == status)
        #expect(page.closesConnection == (status == 413), "the rest of the body must not be read as a request")
        try Self.expectSafe(page)
        #expect(try PageParser(page.text).appURL == nil)
        #expect(seen.finished.withLock { $0.isEmpty })
    }

    @Test(arguments: [
        ("", "", ""), ("{", "", ""), ("[]", "", ""), (#"{"name":"Ana"}"#, "", ""),
        (#"{"name":{"firstName":1,"lastName":"Cruz"},"email":{}}"#, "Cruz", ""),
        (#"{"name":{"firstName":"","lastName":""}}"#, "", ""),
        (#"{"name":{"firstName":"a","firstName":"b"}}"#, "", ""),
        (#"{"name":{"firstName":"<script>","lastName":"\"\u2028"}}"#, "<script> \"\u{2028}", ""),
        (#"{"email":"a@b","name":{"firstName":"\#(String(repeating: "x", count: 5000))"}}"#, "", ""),
        (String(repeating: #"{"name":"#, count: 400), "", ""),
    ])
    func `Malformed names don't prevent a sign-in`(json: String, name: String, email: String) {
        let user = AppleUser(json)
        #expect(user.name == name && user.email == email)
    }

    @Test func `A browser whose request fails before the callback gets a page too`() async throws {
        let (browser, _) = try Self.browser(limit: .init(auth: RequestRate(perSecond: 0.001, burst: 1)))
        _ = try await browser.post("error=access_denied")
        let limited = try await browser.post("error=access_denied", cookie: Self.cookie())
        #expect(limited.status == 429 && limited.headers[.retryAfter] != nil && limited.headers[.setCookie] == nil)
        try Self.expectSafe(limited)
        #expect(try PageParser(limited.text).appURL == nil)
        let visited = try await browser.get("/auth/apple/callback")
        #expect(visited.status == 405 && visited.headers[.allow] == "POST")
        try Self.expectSafe(visited)
    }

    @Test func `Without configuration there is no sign-in with Apple by browser`() async throws {
        let gateway = TestGateway()
        #expect(try await gateway.send(.get, "/auth/apple/start").code == "ROUTE_NOT_FOUND")
        #expect(try await gateway.send(.post, "/auth/apple/callback").code == "ROUTE_NOT_FOUND")
    }

    @Test func `The description has its pages and its form`() async throws {
        let gateway = TestGateway(webSignIn: try Self.webSignIn)
        let document = OpenAPI.document(of: gateway.gateway.endpoints.map(\.operation))
        let paths = try #require(document["paths"]?.object)
        let callback = try #require(paths["/auth/apple/callback"]?.object?["post"]?.object)
        let responses = try #require(callback["responses"]?.object)
        for status in ["400", "403", "503"] {
            let content = responses[status]?.object?["content"]?.object
            #expect(content?.members.map(\.name) == ["text/html"], "\(status)")
        }
        #expect(responses["200"]?.object?["content"]?.object?.members.map(\.name) == ["text/html"])
        let bodies = document["components"]?.object?["requestBodies"]?.object
        let form = bodies?["AppleForm"]?.object?["content"]?.object
        #expect(form?.members.map(\.name) == ["application/x-www-form-urlencoded"])
        let start = try #require(paths["/auth/apple/start"]?.object?["get"]?.object)
        #expect(start["responses"]?.object?["303"] != nil)
    }

    /// Expects that nothing in a page can run, load or be cached, whatever it contains.
    static func expectSafe(_ page: Browser.Page, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(page.headers[.contentType] == "text/html; charset=utf-8", sourceLocation: sourceLocation)
        #expect(page.headers[.cacheControl] == "no-store", sourceLocation: sourceLocation)
        #expect(page.headers[.referrerPolicy] == "no-referrer", sourceLocation: sourceLocation)
        #expect(page.headers[.xContentTypeOptions] == "nosniff", sourceLocation: sourceLocation)
        #expect(page.headers[.location] == nil, sourceLocation: sourceLocation)
        let policy = try #require(page.headers[.contentSecurityPolicy])
        for rule in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"] {
            #expect(policy.contains(rule), sourceLocation: sourceLocation)
        }
        #expect(!policy.contains("unsafe") && !policy.contains("*"), sourceLocation: sourceLocation)
        let parsed = try PageParser(page.text)
        #expect(parsed.scripts.allSatisfy { $0 == BrowserPage.script }, sourceLocation: sourceLocation)
        #expect(policy.contains("script-src") == !parsed.scripts.isEmpty, sourceLocation: sourceLocation)
    }
}
