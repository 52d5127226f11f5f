import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

/// What a client's entry changes about its sign-ins and tokens.
struct ClientKindTests {
    private static let api = "https://orders.example.com/"

    private func run(
        _ change: (inout OAuthClient) -> Void,
        _ body: (OAuthBench) async throws -> Void
    ) async throws {
        var clients = try OAuthBench.clients()
        change(&clients[0])
        try await TestService.run(providers: WebSignInTests.providers(), clients: clients) { service in
            try await body(OAuthBench(service: service))
        }
    }

    private func claims(_ token: String) throws -> JSONObject {
        try JSONObject(parsing: #require(Base64URL.decode(token.split(separator: ".")[1])))
    }

    @Test func `An access token for another API is no token of ours, and is described as what it is`() async throws {
        try await run {
            $0.resources = [Self.api]
        } _: { bench in
            let browser = try await bench.browserToken()
            let code = try await bench.code(["resource": Self.api], browser: browser)
            let tokens = try await bench.redeem(code)
            #expect(try claims(tokens.accessToken)["aud"] == .string(Self.api))
            #expect(try claims(tokens.idToken)["aud"] == "app")
            #expect(await bench.isAccepted(tokens.accessToken) == false)
            let told = try await bench.service.client.introspectToken(.with { $0.token = tokens.accessToken })
            #expect(told.active && told.audience == Self.api && told.scope == "openid profile email offline_access")
            let next = try await bench.refresh(tokens.refreshToken)
            #expect(try claims(next.accessToken)["aud"] == .string(Self.api), "also after a refresh")
            let ours = try await bench.redeem(bench.code(browser: browser))
            #expect(try claims(ours.accessToken)["aud"] == "vestibule")
            #expect(await bench.isAccepted(ours.accessToken))
        }
    }

    @Test func `A resource is one of the client's, and that of the grant`() async throws {
        try await run {
            $0.resources = [Self.api, "https://mail.example.com/"]
        } _: { bench in
            let browser = try await bench.browserToken()
            let unknown = try await bench.authorize(["resource": "https://evil.example.com/"], browser: browser)
            #expect(unknown.answer.value("error") == "invalid_target")
            let code = try await bench.code(["resource": Self.api], browser: browser)
            let other = try await bench.redeem(code, ["resource": "https://mail.example.com/"])
            #expect(other.failure.error == "invalid_target")
            let tokens = try await bench.redeem(code, ["resource": Self.api])
            #expect(
                try claims(tokens.accessToken)["aud"] == .string(Self.api),
                "the wrong one has not used the code up"
            )
        }
    }

    @Test func `A client may have ID tokens signed by RS256`() async throws {
        try await run {
            $0.idTokenAlgorithm = .rs256
        } _: { bench in
            let tokens = try await bench.redeem(bench.code(browser: bench.browserToken()))
            let idToken = try CompactJWS(parsing: tokens.idToken)
            #expect(idToken.algorithm == .rs256)
            let published = try await bench.service.client.getJWKS(.init()).jwksJson
            let keys = try KeySet(parsing: Array(published.utf8))
            let key = try #require(keys.key(id: idToken.keyID ?? "", algorithm: .rs256))
            #expect(throws: Never.self) { try idToken.verifiedPayload(with: key) }
            #expect(try CompactJWS(parsing: tokens.accessToken).algorithm == .es256)
            #expect(await bench.isAccepted(tokens.idToken) == false, "an ID token is no access token")
            let signOut = try await bench.service.oauth.endBrowserSession(
                .with { $0.parameters = [IdentityV1.OAuthParameter("id_token_hint", tokens.idToken)] }
            )
            #expect(!signOut.hasFailure, "it is known as a hint")
        }
    }

    @Test func `A client that is switched off signs nobody in and refreshes nothing`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let page = try await bench.authorize()
            let tokens = try await bench.redeem(bench.code(browser: browser))
            var app = try OAuthBench.clients()[0]
            app.isDisabled = true
            bench.service.parts.oauthMethods.currentClients.replace(OAuthClients([app.id: app]))
            let failure = try await bench.authorize(browser: browser).failure
            #expect(failure.error == "unauthorized_client" && failure.reason == "CLIENT_DISABLED")
            let later = try await bench.service.oauth.authorize(
                .with { ($0.request, $0.browserToken) = (page.signIn.request, browser) }
            )
            #expect(later.failure.reason == "CLIENT_DISABLED", "a sign-in under way ends, too")
            #expect(try await bench.refresh(tokens.refreshToken).failure.error == "unauthorized_client")
        }
    }

    @Test func `A client that requires fields gets a code once the profile has them`() async throws {
        try await run {
            $0.requiredFields = ["phone_number"]
        } _: { bench in
            let browser = try await bench.browserToken()
            func goOn(_ request: String, _ profile: IdentityV1.ProfileState) async throws
                -> IdentityV1.AuthorizeResponse
            {
                try await bench.service.oauth.authorize(
                    .with { ($0.request, $0.browserToken, $0.profile) = (request, browser, profile) }
                )
            }
            let first = try await bench.authorize(browser: browser).completeProfile
            #expect(first.fields == ["phone_number"] && !first.isSilent && first.page.clientName == "Hikers")
            #expect(try await goOn(first.request, .incomplete).answer.value("error") == "interaction_required")
            #expect(try await goOn(first.request, .complete).answer.value("code") != nil)
            let silent = try await bench.authorize(["prompt": "none"], browser: browser).completeProfile
            #expect(silent.isSilent)
            let cancelled = try await bench.service.oauth.authorize(
                .with { ($0.request, $0.browserToken, $0.isCancelled) = (first.request, browser, true) }
            ).answer
            #expect(cancelled.value("error") == "access_denied" && cancelled.value("code") == nil)
            #expect(cancelled.value("state") == "xyz" && cancelled.redirectUri == OAuthBench.callback)
        }
    }

    @Test func `The refresh token of another client is not moved on`() async throws {
        try await OAuthBench.run { bench in
            let tokens = try await bench.redeem(bench.code(browser: bench.browserToken()))
            for _ in 0..<3 {
                #expect(try await bench.refresh(tokens.refreshToken, client: "short").failure.error == "invalid_grant")
                await expectFailure(.unauthenticated, "SESSION_INVALID") {
                    _ = try await bench.service.client.refresh(.with { $0.refreshToken = tokens.refreshToken })
                }
            }
            let rows = try await bench.service.database.query("SELECT generation FROM sessions WHERE scope IS NOT NULL")
            #expect(try rows.first?.decode(0, as: Int64.self) == 0)
            #expect(try await bench.refresh(tokens.refreshToken).failure.error.isEmpty)
        }
    }

    @Test func `A form of too many parameters is refused, and one that repeats an unknown one is not`() async throws {
        try await OAuthBench.run { bench in
            func ask(_ fields: [(String, String)]) async throws -> IdentityV1.OAuthFailure {
                try await bench.service.oauth.issueTokens(
                    .with { $0.parameters = fields.map { IdentityV1.OAuthParameter($0.0, $0.1) } }
                ).failure
            }
            let form = [("grant_type", "authorization_code"), ("code", "none"), ("client_id", "app")]
            #expect(try await ask(form + [("x", "1"), ("x", "2")]).error == "invalid_grant")
            #expect(try await ask(form + [("code", "other")]).error == "invalid_request")
            let many = form + (0..<64).map { ("x\($0)", "1") }
            #expect(try await ask(many).description_p == "There are too many parameters.")
            let page = try await bench.service.oauth.authorize(
                .with { $0.parameters = many.map { IdentityV1.OAuthParameter($0.0, $0.1) } }
            )
            #expect(page.failure.error == "invalid_request")
        }
    }
}
