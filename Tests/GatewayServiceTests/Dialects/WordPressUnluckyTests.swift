import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// Registrations that are interrupted, invalid addresses, and people without proof.
struct WordPressUnluckyTests {
    private static let unproven =
        #"{"appleUserID":"a","email":"m@example.com","username":"maria_2","fullName":"Maria Santos"}"#
    private static let notFound = RPCError.domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is none.")

    @Test(arguments: [
        ("FindAccount", 401, "invalid_token"), ("SignIn", 401, "invalid_token"),
        ("UpdateUserMetadata", 503, "unavailable"), ("UpdateProfile", 503, "unavailable"),
    ])
    func `An interrupted registration reports an error`(at method: String, status: Int, code: String) async throws {
        let gateway = WordPressTests.forNewcomer()
        gateway.stubs.identity.set { answers in
            switch method {
            case "FindAccount": answers.findAccount = { _, _ in throw RPCError.refusal("TOKEN_EXPIRED") }
            case "SignIn": answers.signIn = { _, _ in throw RPCError.refusal("TOKEN_REPLAYED") }
            case "UpdateUserMetadata":
                answers.updateUserMetadata = { _, _ in throw RPCError(.unavailable, "down") }
            default: break
            }
        }
        if method == "UpdateProfile" {
            gateway.stubs.profile.set { $0.updateProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        }
        let answer = try await gateway.send(.post, WordPressTests.registerPath, WordPressTests.register)
        #expect(answer.status == status && answer.code == code)
        #expect(answer.body["data"] == ["status": .integer(Int64(status))])
    }

    @Test func `An invalid address is reported`() async throws {
        let gateway = WordPressTests.forNewcomer()
        gateway.stubs.identity.set {
            $0.findAccount = { _, _ in
                throw RPCError.domain(
                    .invalidArgument,
                    reason: "EMAIL_INVALID",
                    message: "It is none.",
                    fields: [
                        FieldViolation(field: "email_reservation", description: "It is none.", reason: "EMAIL_INVALID")
                    ]
                )
            }
        }
        let answer = try await gateway.send(.post, WordPressTests.registerPath, WordPressTests.register)
        #expect(answer.status == 400)
        #expect(answer.body == WordPressTests.error(400, "invalid_request", "The email address is not valid"))
    }

    @Test(arguments: [false, true])
    func `Without proof an account is signed in to or created, never both`(hasAccount: Bool) async throws {
        let gateway = WordPressTests.forNewcomer(hasAccount: hasAccount)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, WordPressTests.registerPath, Self.unproven)
        #expect(answer.status == 200)
        let call = try #require(asked.all.first)
        #expect(call.hasUnproven && call.unproven.subject == "a" && call.tokenStyle == .singleForSession)
        #expect(call.create == !hasAccount)
    }

    @Test func `Without proof nobody registers for a proven account`() async throws {
        let gateway = WordPressTests.forNewcomer(hasAccount: true)
        gateway.stubs.identity.set { $0.signIn = { _, _ in throw Self.notFound } }
        let atTheSameMoment = try await gateway.send(.post, WordPressTests.registerPath, Self.unproven)
        #expect(atTheSameMoment.status == 401 && atTheSameMoment.code == "invalid_token")
        // Identity issues no proofs for a person whom it would refuse.
        gateway.stubs.identity.set { $0.findAccount = { _, _ in .with { $0.userID = StubServices.userID } } }
        let answer = try await gateway.send(.post, WordPressTests.registerPath, Self.unproven)
        #expect(answer.status == 401 && answer.code == "invalid_token")
        #expect(gateway.stubs.calls.last == "FindAccount" && !gateway.stubs.calls.contains("UpdateProfile"))
    }

    @Test func `Of two registrations of one person without proof the second gets a conflict`() async throws {
        let gateway = WordPressTests.forNewcomer()
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "ACCOUNT_EXISTS", message: "This person is registered.")
            }
        }
        let answer = try await gateway.send(.post, WordPressTests.registerPath, Self.unproven)
        #expect(answer.status == 409 && answer.code == "apple_id_exists")
    }

    @Test(arguments: [true, false])
    func `Without proof nobody logs in to a proven account`(hasUsername: Bool) async throws {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.identity.set { $0.findAccount = { _, _ in .with { $0.userID = StubServices.userID } } }
        if !hasUsername { gateway.stubs.profile.set { $0.getProfile = { _, _ in .init() } } }
        let answer = try await gateway.send(.post, WordPressTests.loginPath, #"{"appleUserID":"a"}"#)
        #expect(answer.status == 401)
        let words: JSONValue = "This account needs Apple's identity token."
        #expect(answer.body == WordPressTests.error(401, "invalid_token", words))
        #expect(gateway.stubs.calls == ["FindAccount"])
    }

    @Test func `Without proof and without a username a person is not registered`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.profile.set { $0.getProfile = { _, _ in .init() } }
        let answer = try await gateway.send(.post, WordPressTests.loginPath, #"{"appleUserID":"a"}"#)
        #expect(answer.status == 404 && answer.code == "user_not_found")
        #expect(answer.body["token"] == nil)
    }
}
