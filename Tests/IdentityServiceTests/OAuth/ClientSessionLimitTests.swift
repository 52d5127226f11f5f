import API
import IdentityDomain
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Sessions of clients have the limits of others.
struct ClientSessionLimitTests {
    @Test func `Where one session may be alive, the client's is`() async throws {
        var limits = SessionLimits()
        limits.sessionsMax = 1
        let clients = try OAuthBench.clients()
        try await TestService.run(limits: limits, providers: WebSignInTests.providers(), clients: clients) { service in
            let bench = OAuthBench(service: service)
            let tokens = try await bench.redeem(bench.code(browser: bench.browserToken()))
            #expect(await bench.isAccepted(tokens.accessToken))
            #expect(try await service.revokeReasons() == ["too_many"])
        }
    }

    @Test func `Short sessions of clients end each other before they end those of other devices`() async throws {
        var limits = SessionLimits()
        limits.sessionsMax = 4
        let clients = try OAuthBench.clients()
        try await TestService.run(limits: limits, providers: WebSignInTests.providers(), clients: clients) { service in
            let bench = OAuthBench(service: service)
            let phone = try await service.signInAnew()
            service.pass(seconds: 1)
            let browser = try await bench.browserToken()
            for _ in 0..<6 {
                service.pass(seconds: 1)
                let code = try await bench.code(["client_id": "short"], browser: browser)
                let tokens = try await bench.redeem(code, ["client_id": "short"])
                #expect(await bench.isAccepted(tokens.accessToken))
            }
            _ = try await service.refresh(phone.refreshToken)
            #expect(try await bench.authorize(browser: browser).answer.value("code") != nil)
        }
    }

    @Test func `A session of a client ends with the longest time since the sign-in`() async throws {
        var limits = SessionLimits()
        limits.absoluteSeconds = 7_200
        let clients = try OAuthBench.clients()
        try await TestService.run(limits: limits, providers: WebSignInTests.providers(), clients: clients) { service in
            let bench = OAuthBench(service: service)
            let browser = try await bench.browserToken()
            service.clock.advance(seconds: 7_100)
            for client in ["app", "short"] {
                let code = try await bench.code(["client_id": client], browser: browser)
                #expect(try await bench.redeem(code, ["client_id": client]).failure.error.isEmpty)
            }
            #expect(try await service.count("sessions WHERE expires_at > created_at + interval '7200 s'") == 0)
        }
    }
}
