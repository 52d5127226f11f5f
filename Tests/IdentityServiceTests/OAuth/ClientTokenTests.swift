import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

struct ClientTokenTests {
    @Test func `A code gives the tokens that its scopes grant`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let signedInAt = bench.service.clock.wallClock.nowSeconds
            bench.service.clock.advance(seconds: 30)
            let tokens = try await bench.redeem(bench.code(browser: browser))
            #expect(tokens.scope == "openid profile email offline_access")
            #expect(tokens.expiresInSeconds == bench.service.settings.issuer.lifetimeSeconds)
            let id = try claims(tokens.idToken)
            #expect(id["aud"] == "app" && id["nonce"] == "n-1" && id["iss"] == "https://id.example.com")
            #expect(id["auth_time"] == .integer(signedInAt) && id["name"] == "Ana Cruz" && id["sid"] != nil)
            let access = try claims(tokens.accessToken)
            #expect(access["client_id"] == "app" && access["aud"] == "vestibule" && access["sub"] == id["sub"])
            #expect(access["scope"] == "openid profile email offline_access")
            let session = try await bench.service.client.checkSession(.with { $0.accessToken = tokens.accessToken })
            #expect(session.scope == tokens.scope && session.proof == .nonce)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                _ = try await bench.service.client.checkSession(.with { $0.accessToken = tokens.idToken })
            }
            let plain = try await bench.redeem(bench.code(["scope": "profile"], browser: browser))
            #expect(plain.idToken.isEmpty && plain.refreshToken.isEmpty && !plain.accessToken.isEmpty)
        }
    }

    @Test func `A session without a refresh token ends with its access token`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let code = try await bench.code(["client_id": "short"], browser: browser)
            let tokens = try await bench.redeem(code, ["client_id": "short"])
            #expect(tokens.expiresInSeconds == 120 && tokens.refreshToken.isEmpty && tokens.scope == "openid")
            #expect(try claims(tokens.idToken)["name"] == nil)
            let short = "sessions WHERE scope = 'openid' AND expires_at = last_used_at + interval '120 s'"
            #expect(try await bench.service.count(short) == 1)
        }
    }

    @Test(arguments: [
        ["code": "vac1_AAAA"], ["code": "x"], ["redirect_uri": "https://app.example.com/other"], ["redirect_uri": ""],
        ["client_id": "short"], ["code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX"], ["code_verifier": ""],
        ["code_verifier": WebSignInTests.challenge],
    ])
    func `A code is worth nothing with another redirect URI, client or verifier, and isn't used up by it`(
        changes: [String: String]
    ) async throws {
        try await OAuthBench.run { bench in
            let code = try await bench.code(browser: bench.browserToken())
            #expect(try await bench.redeem(code, changes).failure.error == "invalid_grant")
            #expect(try await bench.redeem(code).failure.error.isEmpty)
        }
    }

    @Test func `A verifier where there is no challenge is rejected`() async throws {
        var clients = try OAuthBench.clients()
        clients.append(
            OAuthClient(
                id: "nonce",
                name: "Hikers",
                authentication: .secrets([SHA256.hash(OAuthBench.secret)]),
                redirectURIs: clients[0].redirectURIs,
                requiresPKCE: false
            )
        )
        clients[clients.count - 1].scopes = [.openid]
        try await TestService.run(providers: WebSignInTests.providers(), clients: clients) { service in
            let bench = OAuthBench(service: service)
            let code = try await bench.code(
                ["client_id": "nonce", "code_challenge": nil as String?, "code_challenge_method": nil as String?],
                browser: bench.browserToken()
            )
            let parameters = ["grant_type": "authorization_code", "code": code, "redirect_uri": OAuthBench.callback]
            let basic = (id: "nonce", secret: OAuthBench.secret)
            let downgraded = try await bench.token(
                parameters.merging(["code_verifier": OAuthBench.verifier]) { $1 },
                basic: basic
            )
            #expect(downgraded.failure.error == "invalid_grant")
            #expect(try await bench.token(parameters, basic: basic).failure.error.isEmpty)
        }
    }

    @Test func `A code expires`() async throws {
        try await OAuthBench.run { bench in
            let code = try await bench.code(browser: bench.browserToken())
            bench.service.clock.advance(seconds: AuthorizationCode.lifetimeSeconds)
            #expect(try await bench.redeem(code).failure.error == "invalid_grant")
        }
    }

    @Test func `The second use of a code ends the session of the first one`() async throws {
        try await OAuthBench.run { bench in
            let code = try await bench.code(browser: bench.browserToken())
            let tokens = try await bench.redeem(code)
            #expect(await bench.isAccepted(tokens.accessToken))
            #expect(try await bench.redeem(code).failure.error == "invalid_grant")
            #expect(await !bench.isAccepted(tokens.accessToken))
            #expect(try await bench.refresh(tokens.refreshToken).failure.error == "invalid_grant")
        }
    }

    @Test func `Of many concurrent uses of a code at most one gets tokens, and they are worth nothing`() async throws {
        try await OAuthBench.run { bench in
            let code = try await bench.code(browser: bench.browserToken())
            let responses = try await withThrowingTaskGroup(of: IdentityV1.IssueTokensResponse.self) { group in
                for _ in 0..<8 { group.addTask { try await bench.redeem(code) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let winners = responses.filter(\.failure.error.isEmpty)
            #expect(winners.count == 1)
            #expect(await !bench.isAccepted(winners.first?.accessToken ?? ""))
        }
    }

    @Test func `Refresh tokens rotate, for their client alone and at the token endpoint alone`() async throws {
        try await OAuthBench.run { bench in
            let first = try await bench.redeem(bench.code(browser: bench.browserToken()))
            #expect(try await bench.refresh(first.refreshToken, client: "short").failure.error == "invalid_grant")
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await bench.service.client.refresh(.with { $0.refreshToken = first.refreshToken })
            }
            // Neither attempt spoilt it.
            let second = try await bench.refresh(first.refreshToken)
            #expect(second.failure.error.isEmpty && second.refreshToken != first.refreshToken)
            #expect(second.scope == first.scope && !second.idToken.isEmpty)
            #expect(try claims(second.idToken)["nonce"] == nil)
            let third = try await bench.refresh(second.refreshToken)
            bench.service.clock.advance(seconds: 3_600)
            #expect(try await bench.refresh(first.refreshToken).failure.error == "invalid_grant")
            #expect(
                try await bench.refresh(third.refreshToken).failure.error == "invalid_grant",
                "the session has ended"
            )
        }
    }

    @Test func `A refresh token of an app without OpenID Connect is no client's`() async throws {
        try await OAuthBench.run { bench in
            let app = try await bench.service.signIn { request in
                request.idToken = try bench.service.provider.appleToken(subject: "001.person", at: bench.service.clock)
                request.nonce = TestProvider.rawNonce
            }
            #expect(try await bench.refresh(app.tokens.refreshToken).failure.error == "invalid_grant")
            _ = try await bench.service.client.refresh(.with { $0.refreshToken = app.tokens.refreshToken })
        }
    }

    @Test func `A scope that wasn't granted is refused at a refresh`() async throws {
        try await OAuthBench.run { bench in
            let code = try await bench.code(["scope": "openid offline_access"], browser: bench.browserToken())
            let tokens = try await bench.redeem(code)
            let form = ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken, "client_id": "app"]
            #expect(
                try await bench.token(form.merging(["scope": "openid email"]) { $1 }).failure.error == "invalid_scope"
            )
            #expect(try await bench.token(form.merging(["scope": "openid"]) { $1 }).failure.error.isEmpty)
        }
    }

    @Test func `A scope that the client's entry loses is not granted at the next refresh`() async throws {
        try await OAuthBench.run { bench in
            let tokens = try await bench.redeem(bench.code(browser: bench.browserToken()))
            func refresh(_ scopes: Set<OAuthScope>) async throws -> IdentityV1.IssueTokensResponse {
                let app = try OAuthBench.clients()[0]
                var client = app
                client.scopes = scopes
                bench.service.parts.oauthMethods.currentClients.replace(OAuthClients([client.id: client]))
                defer { bench.service.parts.oauthMethods.currentClients.replace(OAuthClients([app.id: app])) }
                let form = ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken, "client_id": "app"]
                return try await bench.token(form)
            }
            let fewer = try await refresh([.openid, .offlineAccess])
            #expect(fewer.scope == "openid offline_access")
            #expect(try claims(fewer.accessToken)["scope"] == "openid offline_access")
            #expect(try claims(fewer.idToken)["name"] == nil)
            #expect(try await refresh([.openid]).failure.error == "invalid_grant")
            #expect(try await bench.refresh(tokens.refreshToken).scope == tokens.scope)
        }
    }

    @Test func `A confidential client authenticates itself by Basic or in the form, not by both`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            func form(_ more: [String: String] = [:]) async throws -> [String: String] {
                [
                    "grant_type": "authorization_code",
                    "code": try await bench.code(["client_id": "web"], browser: browser),
                    "redirect_uri": OAuthBench.callback, "code_verifier": OAuthBench.verifier,
                ].merging(more) { $1 }
            }
            let (id, secret) = ("web", OAuthBench.secret)
            #expect(try await bench.token(form(), basic: (id, secret)).failure.error.isEmpty)
            #expect(try await bench.token(form(["client_id": id]), basic: (id, secret)).failure.error.isEmpty)
            let inForm = ["client_id": id, "client_secret": secret]
            #expect(try await bench.token(form(inForm)).failure.error.isEmpty)
            #expect(try await bench.token(form(inForm), basic: (id, secret)).failure.error == "invalid_request")
            #expect(
                try await bench.token(form(["client_id": "app"]), basic: (id, secret)).failure.error
                    == "invalid_request"
            )
            for wrong in ["", "wrong", secret + "x"] {
                #expect(try await bench.token(form(), basic: (id, wrong)).failure.error == "invalid_client")
            }
            #expect(try await bench.token(form(["client_id": id])).failure.error == "invalid_client")
            #expect(try await bench.token(form(), basic: ("app", "any")).failure.error == "invalid_client")
            #expect(try await bench.token(form(), basic: ("other", secret)).failure.error == "invalid_client")
            #expect(try await bench.token(form()).failure.error == "invalid_client")
        }
    }

    @Test func `Unknown grants and missing parameters are named`() async throws {
        try await OAuthBench.run { bench in
            let missing = try await bench.token(["client_id": "app"])
            #expect(missing.failure.error == "invalid_request")
            let unknown = try await bench.token(["client_id": "app", "grant_type": "password"])
            #expect(unknown.failure.error == "unsupported_grant_type")
            for grant in ["authorization_code", "refresh_token"] {
                let incomplete = try await bench.token(["client_id": "app", "grant_type": grant])
                #expect(incomplete.failure.error == "invalid_request")
            }
        }
    }

    @Test func `A session of a client is as old as the browser's sign-in`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            bench.service.clock.advance(seconds: 3_600)
            let tokens = try await bench.redeem(bench.code(browser: browser))
            let userID = try #require(try claims(tokens.accessToken)["sub"]?.string)
            await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                _ = try await bench.service.client.unlinkProvider(
                    .with { ($0.accessToken, $0.provider) = (tokens.accessToken, "apple") },
                    options: bench.service.options(for: userID)
                )
            }
        }
    }

    @Test func `Revoking a token ends its session, for its client alone`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            func revoke(_ token: String, _ client: String) async throws -> String {
                try await bench.service.oauth.revokeClientToken(
                    .with {
                        $0.parameters = [
                            IdentityV1.OAuthParameter("token", token), IdentityV1.OAuthParameter("client_id", client),
                        ]
                    }
                ).failure.error
            }
            for token in [\IdentityV1.IssueTokensResponse.refreshToken, \.accessToken] {
                let tokens = try await bench.redeem(bench.code(browser: browser))
                #expect(try await revoke(tokens[keyPath: token], "short").isEmpty)
                #expect(await bench.isAccepted(tokens.accessToken))
                #expect(try await revoke(tokens[keyPath: token], "app").isEmpty)
                #expect(await !bench.isAccepted(tokens.accessToken))
            }
            for unknown in ["x", browser] { #expect(try await revoke(unknown, "app").isEmpty) }
            #expect(try await revoke("x", "web") == "invalid_client")
            #expect(try await revoke("", "app") == "invalid_request")
            #expect(
                try await bench.authorize(browser: browser).answer.value("code") != nil,
                "the browser's session goes on"
            )
        }
    }

    // MARK: Signing out

    @Test func `A browser is signed out by its user's ID token, or after it has confirmed`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let tokens = try await bench.redeem(bench.code(browser: browser))
            func signOut(
                _ parameters: [String: String],
                browser: String,
                isConfirmed: Bool = false
            ) async throws -> IdentityV1.EndBrowserSessionResponse {
                try await bench.service.oauth.endBrowserSession(
                    .with {
                        $0.parameters = parameters.map { IdentityV1.OAuthParameter($0.key, $0.value) }
                        ($0.browserToken, $0.isConfirmed) = (browser, isConfirmed)
                    }
                )
            }
            let bye = "https://app.example.com/bye"
            #expect(try await signOut([:], browser: browser).needsConfirmation)
            #expect(try await signOut(["client_id": "app"], browser: browser).needsConfirmation)
            for wrong in [
                ["post_logout_redirect_uri": bye],
                ["post_logout_redirect_uri": "https://evil.example", "client_id": "app"],
                ["id_token_hint": "x"], ["id_token_hint": tokens.accessToken],
                ["id_token_hint": tokens.idToken, "client_id": "web"],
            ] {
                #expect(try await signOut(wrong, browser: browser).failure.error == "invalid_request", "\(wrong.keys)")
            }
            let other = try await bench.browserToken(subject: "002.other")
            let hint = ["id_token_hint": tokens.idToken, "post_logout_redirect_uri": bye, "state": "s"]
            #expect(try await signOut(hint, browser: other).needsConfirmation, "another user's ID token")
            let done = try await signOut(hint, browser: browser)
            #expect(!done.needsConfirmation && done.redirectUri == bye && done.state == "s")
            #expect(try await bench.authorize(browser: browser).signIn.request.isEmpty == false)
            #expect(await bench.isAccepted(tokens.accessToken), "a session with offline_access goes on")
            let confirmed = try await signOut(
                ["client_id": "app", "post_logout_redirect_uri": bye],
                browser: other,
                isConfirmed: true
            )
            #expect(confirmed.redirectUri == bye)
            #expect(try await bench.authorize(browser: other).signIn.request.isEmpty == false)
        }
    }

    private func claims(_ token: String) throws -> JSONObject {
        let parts = token.split(separator: ".")
        return try JSONObject(parsing: #require(Base64URL.decode(parts[1])))
    }
}
