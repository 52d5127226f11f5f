import API
import RPC
import Testing

@testable import IdentityService

/// An operator deletes an account.
struct DeletingTests {
    @Test func `An account is deleted once, with the operator's name in the audit log`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            let other = try await service.signInAnew(subject: "002.person")
            let answer = try await service.operators().delete(tokens.userID)
            #expect(!answer.wasDeleted)
            // No token was kept to withdraw Apple's consent with.
            #expect(answer.consentsLeft == ["apple"])
            await expectFailure(.unauthenticated, "SESSION_INVALID") { _ = try await service.check(tokens.accessToken) }
            let again = try await service.operators().delete(tokens.userID)
            #expect(again.wasDeleted && again.consentsLeft == ["apple"])
            let told = try await service.events("account_deleted")
            #expect(told == [#"account_deleted {"by": "operator", "operator": "\#(TestService.operatorName)"}"#])
            _ = try await service.check(other.accessToken)
        }
    }

    @Test func `A blocked account can be deleted`() async throws {
        try await TestService.run { service in
            let userID = try await service.signInAnew().userID
            try await service.block(userID)
            #expect(try await !service.operators().delete(userID).wasDeleted)
        }
    }

    @Test func `Nobody else deletes one, and none that isn't there`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            await expectFailure(.permissionDenied, "OPERATOR_REQUIRED") {
                _ = try await service.operators(names: ["spiffe://vestibule/gateway"]).delete(tokens.userID)
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.operators().delete("019a0000-0000-7000-8000-000000000000")
            }
            await expectFailure(.invalidArgument, "USER_ID_INVALID") {
                _ = try await service.operators().delete("nobody")
            }
            _ = try await service.check(tokens.accessToken)
        }
    }
}
