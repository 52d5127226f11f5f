import API
import RPC
import Testing

@testable import IdentityService

extension AbsorptionTests {
    /// While services are upgraded replicas of two versions answer.
    @Test(arguments: ["invites.closeIfEmpty", "profile.closeIfEmpty"])
    func `A replica that doesn't know the question undoes nothing that another has done`(call: String) async throws {
        try await Self.run { service, apple, google in
            _ = service.others.absorptions { $0.lost = ["after \(call)"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            }
            _ = service.others.absorptions { $0.unknown = [call] }
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("accounts") == 2)
            #expect(try await service.count("absorptions") == 1)
            #expect(service.others.absorptions().held[google.userID] != nil)
            _ = service.others.absorptions { $0.unknown = [] }
            service.pass(seconds: 11)
            await service.parts.methods.absorber.round()
            try await Self.expectOnlyAccount(apple.userID, without: google.userID, service)
        }
    }
}
