import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Clients that are notified when their sessions end (OpenID Connect Back-Channel Logout 1.0).
struct LogoutTests {
    private static let address = "https://app.example.com/logout"

    private func run(_ body: (OAuthBench) async throws -> Void) async throws {
        var clients = try OAuthBench.clients()
        clients[0].logoutURI = LogoutURI(url: Self.address, mayBePrivate: false)
        try await TestService.run(providers: WebSignInTests.providers(), clients: clients) { service in
            service.http.answer(200, "")
            try await body(OAuthBench(service: service))
        }
    }

    private func claims(_ token: String) throws -> JSONObject {
        try JSONObject(parsing: #require(Base64URL.decode(token.split(separator: ".")[1])))
    }

    private func signOut(_ browser: String, _ bench: OAuthBench) async throws {
        _ = try await bench.service.oauth.endBrowserSession(
            .with { ($0.browserToken, $0.isConfirmed) = (browser, true) }
        )
    }

    /// The logout tokens that were sent, after the work that is due was done.
    private func sent(_ bench: OAuthBench) async throws -> [String] {
        await bench.service.parts.logouts.round()
        return bench.service.http.requests.compactMap { $0.field("logout_token") }
    }

    @Test func `The end of the browser's session notifies the client, by a token that only says that`() async throws {
        try await run { bench in
            let browser = try await bench.browserToken()
            let tokens = try await bench.redeem(bench.code(["scope": "openid"], browser: browser))
            try await signOut(browser, bench)
            let texts = try await sent(bench)
            #expect(texts.count == 1)
            let request = try #require(bench.service.http.requests.first)
            #expect(request.url == Self.address)
            guard case .publicAddresses = request.reach else {
                Issue.record("a private address could be asked")
                return
            }
            let token = try CompactJWS(parsing: texts[0])
            #expect(token.type == "logout+jwt")
            let published = try await bench.service.client.getJWKS(.init()).jwksJson
            let keys = try KeySet(parsing: Array(published.utf8))
            let key = try #require(keys.key(id: token.keyID ?? "", algorithm: token.algorithm))
            let claims = try JSONObject(parsing: token.verifiedPayload(with: key))
            let idToken = try self.claims(tokens.idToken)
            let now = bench.service.clock.nowMilliseconds / 1000
            #expect(claims["iss"] == idToken["iss"] && claims["aud"] == "app" && claims["sub"] == idToken["sub"])
            #expect(claims["sid"] == idToken["sid"] && claims["iat"] == .integer(now))
            #expect(claims["exp"] == .integer(now + 120) && claims["jti"]?.string?.isEmpty == false)
            #expect(claims["events"] == .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]))
            #expect(claims["nonce"] == nil)
            #expect(await bench.isAccepted(texts[0]) == false, "a logout token is no access token")
            #expect(await bench.isAccepted(tokens.accessToken) == false, "the client's session ended with it")
            #expect(try await sent(bench).count == 1, "once")
        }
    }

    @Test func `A session with offline_access goes on, and its client is notified all the same`() async throws {
        try await run { bench in
            let browser = try await bench.browserToken()
            let tokens = try await bench.redeem(bench.code(browser: browser))
            let otherBrowser = try await bench.browserToken()
            let other = try await bench.redeem(bench.code(["scope": "openid"], browser: otherBrowser))
            try await signOut(browser, bench)
            let texts = try await sent(bench)
            #expect(try texts.map { try claims($0)["sid"] } == [try claims(tokens.idToken)["sid"]])
            #expect(await bench.isAccepted(tokens.accessToken))
            #expect(await bench.isAccepted(other.accessToken))
            let next = try await bench.refresh(tokens.refreshToken)
            #expect(next.failure.error.isEmpty)
            _ = try await bench.service.client.signOut(
                .with { ($0.accessToken, $0.scope) = (next.accessToken, .everywhere) }
            )
            let all = try await sent(bench).dropFirst().map { try claims($0)["sid"]?.string ?? "" }
            let expected = try [tokens.idToken, other.idToken].map { try claims($0)["sid"]?.string ?? "" }
            #expect(Set(all) == Set(expected), "by any way in which sessions end")
        }
    }

    @Test func `A browser's session that is ended from the list ends its clients' too`() async throws {
        try await run { bench in
            let browser = try await bench.browserToken()
            let tokens = try await bench.redeem(bench.code(["scope": "openid"], browser: browser))
            let phone = try await bench.redeem(bench.code(browser: bench.browserToken()))
            let rows = try await bench.service.database.query(
                "SELECT browser_session_id::text FROM sessions WHERE session_id = \(try sessionID(tokens.idToken))"
            )
            let id = try rows.first?.decode(0, as: String.self) ?? ""
            _ = try await bench.service.client.endSession(
                .with { ($0.accessToken, $0.sessionID) = (phone.accessToken, id) }
            )
            #expect(await bench.isAccepted(tokens.accessToken) == false)
            #expect(await bench.isAccepted(phone.accessToken))
            #expect(try await sent(bench).count == 1)
        }
    }

    @Test func `A client that does not answer is tried again`() async throws {
        try await run { bench in
            refuseConnections(bench)
            for _ in 0..<3 {
                let browser = try await bench.browserToken()
                _ = try await bench.redeem(bench.code(["scope": "openid"], browser: browser))
                try await signOut(browser, bench)
            }
            #expect(try await sent(bench).isEmpty == false)
            let rows = try await bench.service.database.query(
                "SELECT count(*) FROM work WHERE queue = 'logouts' AND parked_at IS NULL AND failure IS NOT NULL"
            )
            #expect(try rows.first?.decode(0, as: Int64.self) == 3)
        }
    }

    @Test func `A client that has failed is not asked for a while`() async throws {
        try await run { bench in
            refuseConnections(bench)
            var work = bench.service.parts.logouts.kind
            work.silent = SilentClients(pause: .seconds(3_600))
            let sessionID = try #require(SessionID(bytes: Array(repeating: 1, count: 16)))
            let userID = try #require(UserID(bytes: Array(repeating: 2, count: 16)))
            let logout = Logout(sessionID: sessionID, userID: userID, clientID: "app")
            for _ in 0..<3 {
                await #expect(throws: WorkSetback.self) {
                    try await work.perform([logout], deadline: .after(.seconds(60)))
                }
            }
            #expect(bench.service.http.requests.count == 1, "the others wait without a try")
        }
    }

    private func refuseConnections(_ bench: OAuthBench) {
        bench.service.http.answer { _ throws(OutgoingHTTPError) in
            throw OutgoingHTTPError(.connection("refused"), mayHaveBeenSent: false)
        }
    }

    @Test func `Nothing is sent to a client that has no address any more, or had none`() async throws {
        try await run { bench in
            let browser = try await bench.browserToken()
            _ = try await bench.redeem(bench.code(["scope": "openid"], browser: browser))
            _ = try await bench.token([
                "grant_type": "authorization_code",
                "code": bench.code(["client_id": "short", "scope": "openid"], browser: browser),
                "redirect_uri": OAuthBench.callback, "client_id": "short", "code_verifier": OAuthBench.verifier,
            ])
            let plain = try OAuthBench.clients()
            bench.service.parts.oauthMethods.currentClients
                .replace(OAuthClients(Dictionary(uniqueKeysWithValues: plain.map { ($0.id, $0) })))
            try await signOut(browser, bench)
            #expect(try await sent(bench).isEmpty)
            let rows = try await bench.service.database.query("SELECT count(*) FROM work WHERE queue = 'logouts'")
            #expect(try rows.first?.decode(0, as: Int64.self) == 0)
        }
    }

    @Test func `A client has a few requests at a time, and none for a while after a failure`() {
        let clients = SilentClients(pause: .seconds(3_600))
        let begun = (0..<5).map { _ in clients.begin("a") }
        #expect(begun == [nil, nil, nil, SilentClients.turn, SilentClients.turn])
        #expect(clients.begin("b") == nil, "others are not held up")
        clients.end("a")
        #expect(clients.begin("a") == nil)
        clients.add("a")
        #expect((clients.begin("a") ?? .zero) > .seconds(10))
    }

    /// The code is redeemed while the browser's session ends: whichever is first, no session of the client is left alive.
    @Test func `A code that is redeemed during a sign-out leaves no session behind`() async throws {
        try await run { bench in
            for _ in 0..<20 {
                let browser = try await bench.browserToken()
                let code = try await bench.code(["scope": "openid"], browser: browser)
                async let redeemed = bench.redeem(code)
                async let ended: Void = signOut(browser, bench)
                let tokens = try await redeemed
                try await ended
                let isOver = tokens.accessToken.isEmpty ? true : await !bench.isAccepted(tokens.accessToken)
                #expect(isOver)
            }
        }
    }

    private func sessionID(_ token: String) throws -> PostgresUUID {
        let text = try claims(token)["sid"]?.string ?? ""
        return try #require(SessionID(text)).uuid
    }
}
