import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Guests by routes and RPCs.
struct GuestTests {
    private let gateway = TestGateway()
    private let asked = Asked<IdentityV1.SignInAsGuestRequest>()

    init() {
        let asked = asked
        gateway.stubs.identity.set { answers in
            answers.createGuestChallenge = { _, _ in
                .with { ($0.challenge, $0.workBits, $0.expiresInSeconds) = ("the-challenge", 16, 300) }
            }
            answers.signInAsGuest = { request, _ in
                asked.add(request)
                return .with {
                    $0.tokens = StubServices.tokens
                    $0.tokens.idToken = ""
                    $0.callerProofs = StubServices.proofs
                }
            }
        }
    }

    @Test func `The routes make a challenge, and a session of a guest`() async throws {
        let challenge = try await gateway.send(.post, "/auth/guest/challenge")
        #expect(challenge.status == 200)
        #expect(challenge.body == ["challenge": "the-challenge", "work_bits": 16, "expires_in": 300])
        let body = #"{"proof_of_work":"the-challenge.7","device_name":"Blue phone"}"#
        let answer = try await gateway.send(.post, "/auth/guest", body, from: "203.0.113.7:1")
        #expect(answer.status == 200 && answer.headers[.cacheControl] == "no-store")
        #expect(answer.body["access_token"] == "at" && answer.body["id_token"] == nil)
        #expect(answer.body["is_new_user"] == true && answer.body["missing_fields"] == ["phone_number"])
        #expect(try await gateway.send(.post, "/auth/guest").status == 200)
        #expect(asked.all.map(\.proofOfWork) == ["the-challenge.7", ""])
        #expect(asked.all.map(\.deviceName) == ["Blue phone", ""])
        #expect(gateway.stubs.clientAddresses.contains("SignInAsGuest 203.0.113.7"))
        #expect(try await gateway.send(.post, "/auth/guest", #"{"proof_of_work":1}"#).status == 400)
    }

    @Test func `The RPCs do the same`() async throws {
        let clients = try AppClients(gateway)
        let made = try await clients.auth.createGuestChallenge(.init())
        #expect(made == .with { ($0.challenge, $0.workBits, $0.expiresInSeconds) = ("the-challenge", 16, 300) })
        let session = try await clients.auth.signInAsGuest(.with { $0.proofOfWork = "p" })
        #expect(session.tokens.refreshToken == "rt" && session.missingFields == ["phone_number"])
        #expect(asked.all.map(\.proofOfWork) == ["p"])
    }

    @Test(arguments: [
        (Status.Code.failedPrecondition, "GUESTS_NOT_ENABLED", 400), (.invalidArgument, "WORK_REQUIRED", 400),
        (.invalidArgument, "WORK_INVALID", 400), (.failedPrecondition, "WORK_EXPIRED", 400),
        (.failedPrecondition, "WORK_SPENT", 400), (.resourceExhausted, "TOO_MANY_GUESTS", 429),
    ])
    func `Each refusal has its status`(code: Status.Code, reason: String, status: Int) async throws {
        gateway.stubs.identity.set { answers in
            answers.signInAsGuest = { _, _ in throw RPCError.domain(code, reason: reason, message: "m") }
        }
        let answer = try await gateway.send(.post, "/auth/guest", "{}")
        #expect(answer.status == status && answer.code == reason)
    }

    @Test func `New guests are limited by address as sign-ins are`() async throws {
        var policy = RateLimit.Policy()
        policy.auth = RequestRate(perSecond: 0.001, burst: 2)
        let gateway = TestGateway(rateLimit: policy)
        gateway.stubs.identity.set { $0.createGuestChallenge = { _, _ in .init() } }
        var statuses: [Int] = []
        for _ in 0..<3 {
            statuses.append(try await gateway.send(.post, "/auth/guest/challenge", from: "203.0.113.7:1").status)
        }
        #expect(statuses == [200, 200, 429])
    }

    @Test func `The profile says that the user is a guest`() async throws {
        gateway.stubs.identity.set { answers in
            answers.checkSession = { _, _ in
                .with { ($0.userID, $0.callerProofs, $0.proof) = (StubServices.userID, StubServices.proofs, .guest) }
            }
        }
        #expect(try await gateway.sendAsUser(.get, "/me").body["is_guest"] == true)
        let saved = try await gateway.sendAsUser(.patch, "/me", #"{"display_name":"Maria"}"#)
        #expect(saved.status == 200 && saved.body["is_guest"] == true)
    }

    @Test func `A guest is merged or dropped by the account alone`() async throws {
        let asked = Asked<IdentityV1.AbsorbGuestRequest>()
        gateway.stubs.identity.set { answers in
            answers.absorbGuest = { request, _ in
                asked.add(request)
                return .init()
            }
        }
        for word in ["merge", "drop"] {
            let body = #"{"guest_token":"gt","guest":"\#(word)"}"#
            let answer = try await gateway.sendAsUser(.post, "/auth/guest/absorb", body)
            #expect(answer.status == 204)
            #expect(try await gateway.send(.post, "/auth/guest/absorb", body).status == 401)
        }
        #expect(asked.all.map(\.guest) == [.merge, .drop])
        #expect(asked.all.allSatisfy { $0.guestToken == "gt" && $0.accessToken == StubServices.accessToken })
        for body in [#"{"guest_token":"gt"}"#, #"{"guest_token":"gt","guest":"keep"}"#, #"{"guest":"merge"}"#] {
            let status = try await gateway.sendAsUser(.post, "/auth/guest/absorb", body).status
            #expect(status == 400 || status == 422, "\(body)")
        }
        #expect(asked.all.count == 2)
        let refusal = RPCError.domain(.permissionDenied, reason: "GUEST_NOT_ALLOWED", message: "m")
        gateway.stubs.identity.set { $0.absorbGuest = { _, _ in throw refusal } }
        let refused = try await gateway.sendAsUser(
            .post,
            "/auth/guest/absorb",
            #"{"guest_token":"gt","guest":"merge"}"#
        )
        #expect(refused.status == 403 && refused.code == "GUEST_NOT_ALLOWED")
    }

    @Test func `Supabase's clients sign in anonymously, with the work in the place of a captcha`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let (asked, kept) = (Asked<IdentityV1.SignInAsGuestRequest>(), Asked<IdentityV1.UpdateUserMetadataRequest>())
        gateway.stubs.identity.set { answers in
            answers.signInAsGuest = { request, _ in
                asked.add(request)
                return .with { ($0.tokens, $0.callerProofs) = (StubServices.tokens, StubServices.proofs) }
            }
            answers.updateUserMetadata = { request, _ in
                kept.add(request)
                return .init()
            }
            answers.getAccount = { _, _ in
                .with { $0.account = .with { ($0.userID, $0.isGuest) = (StubServices.userID, true) } }
            }
        }
        let body = #"{"data":{"theme":"dark","email":"x@example.com"},"gotrue_meta_security":{"captcha_token":"c.1"}}"#
        let answer = try await gateway.send(.post, "/auth/v1/signup", body)
        #expect(answer.status == 200 && answer.body["access_token"] == "at")
        let user = try #require(answer.body["user"]?.object)
        #expect(user["is_anonymous"] == true && user["identities"] == [] && user["email"] == "")
        #expect(asked.all.map(\.proofOfWork) == ["c.1"])
        #expect(kept.all.map(\.changesJson) == [#"{"theme":"dark"}"#])
        #expect(try await gateway.send(.post, "/auth/v1/signup", #"{"gotrue_meta_security":{}}"#).status == 200)
        #expect(try await gateway.send(.post, "/auth/v1/signup").status == 200)
        for body in [#"{"email":"x@example.com","password":"p"}"#, #"{"phone":"+639170000000"}"#] {
            let refused = try await gateway.send(.post, "/auth/v1/signup", body)
            #expect(refused.status == 422 && refused.body["error_code"] == "signup_disabled")
        }
        #expect(asked.all.count == 3)
    }

    @Test(arguments: [
        (HTTPRequest.Method.post, "/auth/v1/signup", #"{"data":{"wordpress_email":"boss@example.com"}}"#),
        (.put, "/auth/v1/user", #"{"data":{"wordpress_email":"boss@example.com"}}"#),
        (.post, "/auth/v1/signup", "{\"data\":{\"a\":\"\(String(repeating: "x", count: 2_048))\"}}"),
    ])
    func `What an app may not keep is refused by both routes before anything is done`(
        method: HTTPRequest.Method,
        path: String,
        body: String
    ) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let done = Asked<String>()
        gateway.stubs.identity.set { answers in
            answers.signInAsGuest = { _, _ in
                done.add("guest")
                return .with { ($0.tokens, $0.callerProofs) = (StubServices.tokens, StubServices.proofs) }
            }
            answers.updateUserMetadata = { _, _ in
                done.add("metadata")
                return .init()
            }
        }
        let answer = try await gateway.sendAsUser(method, path, body)
        #expect(answer.status == 400 && answer.body["error_code"] == "validation_failed")
        #expect(done.all.isEmpty)
    }

    @Test(arguments: [
        ("GUESTS_NOT_ENABLED", Status.Code.failedPrecondition, 422, "anonymous_provider_disabled"),
        ("WORK_REQUIRED", .invalidArgument, 400, "captcha_failed"),
        ("WORK_SPENT", .failedPrecondition, 400, "captcha_failed"),
        ("TOO_MANY_GUESTS", .resourceExhausted, 429, "over_request_rate_limit"),
    ])
    func `Supabase's clients get the codes that they know`(
        reason: String,
        code: Status.Code,
        status: Int,
        word: String
    ) async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { answers in
            answers.signInAsGuest = { _, _ in throw RPCError.domain(code, reason: reason, message: "m") }
        }
        let answer = try await gateway.send(.post, "/auth/v1/signup", "{}")
        #expect(answer.status == status && answer.body["error_code"] == .string(word))
    }
}
