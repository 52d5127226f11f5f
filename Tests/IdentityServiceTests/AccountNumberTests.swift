import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import RPCTransport
import ServiceModels
import TestDatabases
import Testing

@testable import IdentityService

struct AccountNumberTests {
    @Test func `Each account has a number of its own, told with all its tokens`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(subject: "1").tokens
            let second = try await service.signIn(subject: "2").tokens
            #expect(first.accountNumber > 0)
            #expect(second.accountNumber > first.accountNumber)
            service.clock.advance(seconds: 1)
            #expect(try await service.signIn(subject: "1").tokens.accountNumber == first.accountNumber)
            let refreshed = try await service.refresh(first.refreshToken).tokens
            #expect(refreshed.accountNumber == first.accountNumber)
        }
    }

    @Test func `A retry tells the number`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let first = try await service.signIn(token: token).tokens
            #expect(try await service.signIn(token: token).tokens.accountNumber == first.accountNumber)
        }
    }
}
