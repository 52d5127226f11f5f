import API
import IdentityDomain
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// What the gateway's own pages act with.
struct UseBrowserSessionTests {
    @Test func `A browser's session has an access token of one minute`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let used = try await bench.use(browser)
            #expect(used.signIn.providers == ["apple"] && used.session.provider == "apple")
            let checked = try await bench.service.client.checkSession(
                .with { $0.accessToken = used.session.accessToken }
            )
            #expect(checked.userID == used.session.userID && checked.sessionID == used.session.sessionID)
            let now = bench.service.clock.nowSeconds
            #expect(checked.expiresAtSeconds == now + 60 && used.session.expiresAtSeconds > now + 3600)
            #expect(used.session.signedInAtMilliseconds / 1000 == now)
            #expect(try await bench.use(browser).session.accessToken != used.session.accessToken)
            bench.service.clock.advance(seconds: 60)
            #expect(await !bench.isAccepted(used.session.accessToken))
            #expect(await bench.isAccepted(try bench.use(browser).session.accessToken))
        }
    }

    @Test func `Nothing but a live session of a browser has one`() async throws {
        try await OAuthBench.run { bench in
            let phone = try await bench.service.signInAnew()
            for token in ["", "x", phone.accessToken, phone.refreshToken] {
                let used = try await bench.use(token)
                #expect(!used.hasSession && used.signIn.providers == ["apple"])
            }
            let browser = try await bench.browserToken()
            #expect(await !bench.isAccepted(browser), "the cookie is no bearer token")
            let used = try await bench.use(browser)
            _ = try await bench.service.client.signOut(.with { $0.accessToken = used.session.accessToken })
            #expect(try await !bench.use(browser).hasSession)
            #expect(await !bench.isAccepted(used.session.accessToken))
        }
    }

    @Test func `Using it keeps the session alive`() async throws {
        var limits = SessionLimits()
        limits.inactivitySeconds = 7_200
        let clients = try OAuthBench.clients()
        try await TestService.run(limits: limits, providers: WebSignInTests.providers(), clients: clients) { service in
            let bench = OAuthBench(service: service)
            let browser = try await bench.browserToken()
            for _ in 0..<3 {
                service.clock.advance(seconds: 6_000)
                #expect(try await bench.use(browser).hasSession)
            }
            service.clock.advance(seconds: 7_200)
            #expect(try await !bench.use(browser).hasSession)
        }
    }
}

extension OAuthBench {
    fileprivate func use(_ token: String) async throws -> IdentityV1.UseBrowserSessionResponse {
        try await service.oauth.useBrowserSession(.with { $0.browserToken = token })
    }
}
