import API
import IdentityDomain
import JOSE
import Postgres
import RPC
import Testing

@testable import IdentityService

struct FindAccountTests {
    @Test func `An ID token finds its account and stays unused`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock)
            func find() async throws -> IdentityV1.FindAccountResponse {
                try await service.findAccount { ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce) }
            }
            #expect(try await find().userID.isEmpty)
            for table in ["accounts", "sign_ins", "sessions"] { #expect(try await service.count(table) == 0) }
            let response = try await service.signIn(token: token)
            #expect(response.isNewUser)
            let found = try await find()
            #expect(found.userID == response.tokens.userID)
            #expect(found.accountNumber == response.tokens.accountNumber)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Credentials are verified as for a sign-in`() async throws {
        try await TestService.runWithAudiences { service in
            let (provider, clock) = (service.provider, service.clock)
            let token = try provider.appleToken(at: clock)
            let stranger = try provider.appleToken(at: clock, key: SigningKey.generateP256(keyID: provider.key.keyID))
            let stale = try provider.bareToken(at: clock, ["iat": .integer(clock.nowSeconds - 661)])
            let coded = try provider.bareToken("com.example.coded", at: clock)
            let cases: [(String, (inout IdentityV1.SignInRequest) -> Void)] = [
                ("TOKEN_NONCE_MISSING", { $0.idToken = token }),
                ("TOKEN_SIGNATURE", { ($0.idToken, $0.nonce) = (stranger, TestProvider.rawNonce) }),
                ("TOKEN_STALE", { $0.idToken = stale }), ("CODE_REQUIRED", { $0.idToken = coded }),
                (
                    "TOKEN_SUBJECT",
                    { ($0.idToken, $0.nonce, $0.expectedSubject) = (token, TestProvider.rawNonce, "002.other") }
                ),
                (
                    "TOKEN_AUDIENCE",
                    { ($0.idToken, $0.nonce, $0.clientID) = (token, TestProvider.rawNonce, "com.example.bare") }
                ),
            ]
            for (reason, make) in cases {
                await expectFailure(.unauthenticated, reason) { _ = try await service.findAccount(make) }
            }
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                _ = try await service.findAccount { $0.provider = "myspace" }
            }
        }
    }

    @Test func `A lookup spends neither codes nor tickets`() async throws {
        try await TestService.runWithAudiences { service in
            try service.exchange.answer(service.provider.appleToken(at: service.clock), for: "code", service: service)
            let cases: [(inout IdentityV1.SignInRequest) -> Void] = [
                { ($0.authorizationCode, $0.clientID) = ("code", "com.example.app") },
                { ($0.idToken, $0.authorizationCode) = ("vit1_a", "vct1_b") }, { _ in },
            ]
            for make in cases {
                await expectFailure(.invalidArgument, "CREDENTIALS_MISSING") { _ = try await service.findAccount(make) }
            }
            #expect(service.exchange.exchangeCount == 0)
        }
    }

    @Test func `An access token and an unproven name find accounts too`() async throws {
        try await TestService.runWithAudiences(unprovenDialects: ["wordpress"]) { service in
            let client = "example.apps.googleusercontent.com"
            let known = try service.provider.appleToken(
                subject: "google-1",
                at: service.clock,
                ["iss": "https://accounts.google.com", "aud": .string(client), "c_hash": nil as JSONValue?]
            )
            try service.exchange.answer(known, for: "access", service: service, provider: .google)
            func find() async throws -> IdentityV1.FindAccountResponse {
                try await service.findAccount {
                    ($0.provider, $0.accessToken, $0.clientID) = ("google", "access", client)
                }
            }
            #expect(try await find().userID.isEmpty)
            let signedIn = try await service.signIn {
                ($0.provider, $0.accessToken, $0.clientID) = ("google", "access", client)
            }
            #expect(try await find().userID == signedIn.tokens.userID)
            let named = try await service.findAccount {
                $0.provider = "google"
                ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", "google-1")
            }
            #expect(named.userID == signedIn.tokens.userID, "registering would be refused")
        }
    }

    @Test func `A lookup while the provider is down stores no name`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
                _ = try await service.findAccount {
                    ($0.idToken, $0.nonce, $0.fullName) = (token, TestProvider.rawNonce, "Ana Cruz")
                }
            }
            let kept = try await service.count("told_once")
            #expect(kept == 0)
        }
    }
}
