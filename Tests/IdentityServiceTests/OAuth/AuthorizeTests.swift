import API
import IdentityDomain
import JOSE
import Models
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

struct AuthorizeTests {
    @Test func `Without a session the user signs in, and the sealed request is answered then`() async throws {
        try await OAuthBench.run { bench in
            let page = try await bench.authorize(["idp": "apple", "ui_locales": "fil"]).signIn
            #expect(page.clientName == "Hikers" && page.providers == ["apple"] && page.provider == "apple")
            #expect(page.languages == "fil" && page.providerNames == ["Staff of Acme"])
            let browser = try await bench.browserToken()
            let response = try await bench.service.oauth.authorize(
                .with { ($0.request, $0.browserToken) = (page.request, browser) }
            )
            #expect(response.answer.redirectUri == OAuthBench.callback && response.answer.responseMode == "query")
            #expect(response.answer.parameters.map(\.name) == ["code", "state", "iss"])
            #expect(response.answer.value("state") == "xyz")
            #expect(response.answer.value("iss") == "https://id.example.com")
            #expect(try await bench.redeem(#require(response.answer.value("code"))).failure.error.isEmpty)
        }
    }

    @Test func `Nothing is stored for requests of users who don't sign in`() async throws {
        try await OAuthBench.run { bench in
            for _ in 0..<20 { _ = try await bench.authorize() }
            #expect(try await bench.service.count("authorization_codes") == 0)
        }
    }

    @Test func `An unknown provider is ignored`() async throws {
        try await OAuthBench.run { bench in
            let page = try await bench.authorize(["idp": "myspace"]).signIn
            #expect(!page.request.isEmpty && page.provider.isEmpty)
        }
    }

    @Test func `Errors go to the page or to the client, as the request allows`() async throws {
        try await OAuthBench.run { bench in
            #expect(try await bench.authorize(["client_id": "other"]).failure.error == "invalid_client")
            #expect(
                try await bench.authorize(["redirect_uri": "https://evil.example"]).failure.error == "invalid_request"
            )
            let answer = try await bench.authorize(["response_type": "token", "response_mode": "form_post"]).answer
            #expect(answer.value("error") == "unsupported_response_type" && answer.responseMode == "form_post")
            #expect(answer.value("state") == "xyz" && answer.value("iss") == "https://id.example.com")
        }
    }

    @Test func `Where no page may be shown, a missing or old sign-in is an error`() async throws {
        try await OAuthBench.run { bench in
            #expect(try await bench.authorize(["prompt": "none"]).answer.value("error") == "login_required")
            let browser = try await bench.browserToken()
            #expect(try await bench.authorize(["prompt": "none"], browser: browser).answer.value("code") != nil)
            bench.service.clock.advance(seconds: 61)
            let old = try await bench.authorize(["prompt": "none", "max_age": "60"], browser: browser)
            #expect(old.answer.value("error") == "login_required")
        }
    }

    @Test func `A demanded sign-in must be newer than the request`() async throws {
        try await OAuthBench.run { bench in
            let before = try await bench.browserToken()
            bench.service.clock.advance(seconds: 5)
            let page = try await bench.authorize(["prompt": "login"], browser: before).signIn
            #expect(!page.request.isEmpty)
            func answer(_ browser: String) async throws -> IdentityV1.AuthorizeResponse {
                try await bench.service.oauth.authorize(
                    .with { ($0.request, $0.browserToken) = (page.request, browser) }
                )
            }
            #expect(try await answer(before).answer.value("code") == nil)
            bench.service.clock.advance(seconds: 5)
            let after = try await bench.browserToken()
            #expect(try await answer(after).answer.value("code") != nil)
        }
    }

    @Test func `A browser's token opens pages only, and other tokens open none`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            #expect(await !bench.isAccepted(browser))
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                _ = try await bench.service.client.listSessions(.with { $0.accessToken = browser })
            }
            let app = try await bench.service.signIn { request in
                request.idToken = try bench.service.provider.appleToken(subject: "002.other", at: bench.service.clock)
                request.nonce = TestProvider.rawNonce
                request.tokenStyle = .single
            }
            for token in [app.tokens.singleToken, "", "vbs", browser + "x"] {
                #expect(try await bench.authorize(browser: token).signIn.request.isEmpty == false, "\(token.prefix(8))")
            }
        }
    }

    @Test func `A browser's session ends with all others, and gives no code then`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let tokens = try await bench.redeem(bench.code(browser: browser))
            let code = try await bench.code(browser: browser)
            _ = try await bench.service.client.signOut(
                .with { ($0.accessToken, $0.scope) = (tokens.accessToken, .everywhere) }
            )
            #expect(try await bench.authorize(browser: browser).signIn.request.isEmpty == false)
            #expect(try await bench.redeem(code).failure.error == "invalid_grant")
        }
    }

    @Test func `Another user than the one of the ID token hint gets no code, on any way`() async throws {
        try await OAuthBench.run { bench in
            let ana = try await bench.redeem(bench.code(browser: bench.browserToken()))
            let hint = ["id_token_hint": ana.idToken]
            let other = try await bench.browserToken(subject: "002.other")
            bench.service.clock.advance(seconds: 2)
            let page = try await bench.authorize(hint, browser: other).signIn.request
            func goOn(_ request: String, _ browser: String) async throws -> IdentityV1.AuthorizeResponse {
                try await bench.service.oauth.authorize(.with { ($0.request, $0.browserToken) = (request, browser) })
            }
            #expect(try await goOn(page, other).signIn.request.isEmpty == false, "the earlier session")
            bench.service.clock.advance(seconds: 2)
            let anew = try await bench.browserToken(subject: "002.other")
            #expect(try await goOn(page, anew).answer.value("error") == "login_required")
            #expect(try await goOn(page, bench.browserToken()).answer.value("code") != nil)
            let pushed = try await bench.service.oauth.pushAuthorization(
                .with {
                    $0.parameters = [
                        "client_id": "app", "redirect_uri": OAuthBench.callback, "response_type": "code",
                        "scope": "openid",
                        "code_challenge": WebSignInTests.challenge, "code_challenge_method": "S256", "prompt": "none",
                        "id_token_hint": ana.idToken,
                    ].map { IdentityV1.OAuthParameter($0.key, $0.value) }
                }
            )
            let silent = try await bench.service.oauth.authorize(
                .with {
                    $0.parameters = [
                        IdentityV1.OAuthParameter("client_id", "app"),
                        IdentityV1.OAuthParameter("request_uri", pushed.requestUri),
                    ]
                    $0.browserToken = other
                }
            )
            #expect(silent.answer.value("error") == "login_required")
        }
    }

    @Test func `Codes of one browser are bounded`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            for _ in 0..<IdentityStore.codesPerSessionMax { _ = try await bench.code(browser: browser) }
            let answer = try await bench.authorize(browser: browser).answer
            #expect(answer.value("error") == "temporarily_unavailable")
            bench.service.clock.advance(
                seconds: AuthorizationCode.lifetimeSeconds + IdentityStore.codesKeptSeconds
            )
            let now = bench.service.clock.wallClock.nowMilliseconds
            let store = bench.service.parts.oauthMethods.identity.store
            #expect(try await store.forgetAuthorizationCodes(nowMilliseconds: now, limit: 1_000) == 100)
            #expect(try await bench.authorize(browser: browser).answer.value("code") != nil)
        }
    }

    @Test func `A nonce that the database can't hold is rejected, and any other comes back`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            for nonce in ["\0", "a\0b"] {
                let answer = try await bench.authorize(["nonce": nonce], browser: browser).answer
                #expect(answer.value("error") == "invalid_request")
            }
            let code = try await bench.code(["nonce": "\u{1}\u{7F}\u{E9}\u{1F642}"], browser: browser)
            #expect(try await bench.redeem(code).failure.error.isEmpty)
        }
    }

    // MARK: Pushed requests

    @Test func `A pushed request stands for its parameters, for its client`() async throws {
        try await OAuthBench.run { bench in
            func push(_ changes: [String: String] = [:]) async throws -> IdentityV1.PushAuthorizationResponse {
                var parameters = [
                    "client_id": "app", "redirect_uri": OAuthBench.callback, "response_type": "code", "scope": "openid",
                    "state": "pushed", "code_challenge": WebSignInTests.challenge, "code_challenge_method": "S256",
                ]
                for (name, value) in changes { parameters[name] = value }
                return try await bench.service.oauth.pushAuthorization(
                    .with { $0.parameters = parameters.map { IdentityV1.OAuthParameter($0.key, $0.value) } }
                )
            }
            let pushed = try await push()
            #expect(pushed.requestUri.hasPrefix("urn:ietf:params:oauth:request_uri:") && pushed.expiresInSeconds == 90)
            let browser = try await bench.browserToken()
            func authorize(_ client: String) async throws -> IdentityV1.AuthorizeResponse {
                try await bench.service.oauth.authorize(
                    .with {
                        $0.parameters = [
                            IdentityV1.OAuthParameter("client_id", client),
                            IdentityV1.OAuthParameter("request_uri", pushed.requestUri),
                            // Parameters beside it don't count.
                            IdentityV1.OAuthParameter("state", "forged"),
                        ]
                        $0.browserToken = browser
                    }
                )
            }
            #expect(try await authorize("app").answer.value("state") == "pushed")
            #expect(try await authorize("web").failure.error == "invalid_request_uri")
            bench.service.clock.advance(seconds: 90)
            #expect(try await authorize("app").failure.error == "invalid_request_uri")
            #expect(try await push(["redirect_uri": "https://evil.example"]).failure.error == "invalid_request")
            #expect(try await push(["client_id": "web"]).failure.error == "invalid_client")
            #expect(try await push(["request_uri": pushed.requestUri]).failure.error == "invalid_request")
        }
    }
}
