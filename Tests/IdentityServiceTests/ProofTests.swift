import API
import IdentityDomain
import JOSE
import Postgres
import RPC
import Testing

@testable import IdentityService

struct ProofTests {
    @Test func `A nonce proves, and the session tells so`() async throws {
        try await TestService.runWithAudiences { service in
            let response = try await service.signIn(token: service.provider.appleToken(at: service.clock))
            #expect(response.proof == .nonce)
            #expect(try await service.check(response.tokens.accessToken).proof == .nonce)
        }
    }

    @Test func `A young token without nonce proves by being fresh, ten minutes long`() async throws {
        try await TestService.runWithAudiences { service in
            let now = service.clock.nowSeconds
            func signIn(secondsAgo: Int64) async throws -> IdentityV1.SignInResponse {
                let token = try service.provider.bareToken(at: service.clock, ["iat": .integer(now - secondsAgo)])
                return try await service.signIn { $0.idToken = token }
            }
            let response = try await signIn(secondsAgo: 660)
            #expect(response.proof == .fresh)
            #expect(try await service.check(response.tokens.accessToken).proof == .fresh)
            await expectFailure(.unauthenticated, "TOKEN_STALE") { _ = try await signIn(secondsAgo: 661) }
            #expect(try await service.count("sign_ins") == 1, "a stale token is not used up")
        }
    }

    @Test func `A retry of a fresh token passes when it isn't fresh any more, a replay doesn't`() async throws {
        try await TestService.runWithAudiences { service in
            let issuedAt = service.clock.nowSeconds - 659
            let token = try service.provider.bareToken(at: service.clock, ["iat": .integer(issuedAt)])
            let first = try await service.signIn { $0.idToken = token }
            service.clock.advance(seconds: 30)
            let again = try await service.signIn { $0.idToken = token }
            #expect(again.tokens.sessionID == first.tokens.sessionID)
            #expect(again.proof == .fresh)
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { try await service.signIn { $0.idToken = token } }
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Concurrent first uses of a fresh token agree`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            let responses = try await gather(24) { _ in try await service.signIn { $0.idToken = token } }
            #expect(Set(responses.map(\.tokens.sessionID)).count == 1)
            #expect(responses.allSatisfy { $0.proof == .fresh })
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `A token with a nonce is not proven by being fresh`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock, ["aud": "com.example.bare"])
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISSING") {
                try await service.signIn { $0.idToken = token }
            }
            let response = try await service.signIn {
                $0.idToken = token
                $0.nonce = TestProvider.rawNonce
            }
            #expect(response.proof == .nonce)
        }
    }

    @Test func `A code proves what comes along`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            await expectFailure(.unauthenticated, "CODE_REQUIRED") { try await service.signIn { $0.idToken = token } }
            #expect(try await service.count("sign_ins") == 0)
            let exchanged = try service.provider.bareToken("com.example.coded", at: service.clock, ["at_hash": "x"])
            try service.exchange.answer(exchanged, for: "code-1", service: service)
            let first = try await service.signIn {
                $0.idToken = token
                $0.authorizationCode = "code-1"
            }
            #expect(first.proof == .code)
            #expect(try await service.check(first.tokens.accessToken).proof == .code)
            // The answer was lost: the same again, and the code alone.
            let again = try await service.signIn {
                $0.idToken = token
                $0.authorizationCode = "code-1"
            }
            let codeAlone = try await service.signIn {
                $0.authorizationCode = "code-1"
                $0.clientID = "com.example.coded"
            }
            #expect(Set([first, again, codeAlone].map(\.tokens.sessionID)).count == 1)
        }
    }

    @Test func `A retry gets its own code's session, not that of one before with the same token`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            func signIn(_ code: String) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    $0.idToken = token
                    $0.authorizationCode = code
                }
            }
            for number in 1...8 {
                let exchanged = try service.provider.bareToken(
                    "com.example.coded",
                    at: service.clock,
                    ["at_hash": .string("\(number)")]
                )
                try service.exchange.answer(exchanged, for: "code-\(number)", service: service)
                let first = try await signIn("code-\(number)")
                #expect(try await signIn("code-\(number)").tokens.sessionID == first.tokens.sessionID)
                service.clock.advance(seconds: 70)
            }
            #expect(try await service.count("sessions") == 8)
        }
    }

    @Test func `Another person's or another app's code proves nothing`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            let others = try service.provider.bareToken("com.example.coded", subject: "002.other", at: service.clock)
            try service.exchange.answer(others, for: "others", service: service)
            try service.exchange.answer(
                service.provider.bareToken(at: service.clock),
                for: "of another app",
                service: service
            )
            for code in ["others", "of another app"] {
                await expectFailure(.unauthenticated, "CODE_FOREIGN") {
                    try await service.signIn {
                        $0.idToken = token
                        $0.authorizationCode = code
                    }
                }
            }
            await expectFailure(.unauthenticated, "CODE_FOREIGN") {
                try await service.signIn {
                    $0.authorizationCode = "of another app"
                    $0.clientID = "com.example.coded"
                }
            }
            let bound = try service.provider.bareToken("com.example.coded", at: service.clock, ["c_hash": "x"])
            await expectFailure(.unauthenticated, "TOKEN_CODE_HASH") {
                try await service.signIn {
                    $0.idToken = bound
                    $0.authorizationCode = "others"
                }
            }
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("sign_ins") == 0)
        }
    }

    @Test func `A code alone signs in, and later it is spent`() async throws {
        try await TestService.runWithAudiences { service in
            let exchanged = try service.provider.appleToken(at: service.clock)
            try service.exchange.answer(exchanged, for: "code-1", service: service)
            func signIn(_ clientID: String = "com.example.app") async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    $0.authorizationCode = "code-1"
                    $0.clientID = clientID
                    $0.fullName = "Ana Cruz"
                }
            }
            for client in ["", "com.other.app"] {
                await expectFailure(.invalidArgument, "CLIENT_UNKNOWN") { _ = try await signIn(client) }
            }
            let first = try await signIn()
            #expect(first.proof == .code)
            #expect(first.suggestedDisplayName == "Ana Cruz")
            service.clock.advance(seconds: 59)
            #expect(try await signIn().tokens.sessionID == first.tokens.sessionID)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "CODE_SPENT") { _ = try await signIn() }
            await expectFailure(.unauthenticated, "CODE_SPENT") {
                try await service.signIn {
                    $0.authorizationCode = "never issued"
                    $0.clientID = "com.example.app"
                }
            }
        }
    }

    @Test func `An access token signs in where the provider is asked`() async throws {
        try await TestService.runWithAudiences { service in
            let client = "example.apps.googleusercontent.com"
            let known = try service.provider.appleToken(
                subject: "google-1",
                at: service.clock,
                ["iss": "https://accounts.google.com", "aud": .string(client), "c_hash": nil as JSONValue?]
            )
            try service.exchange.answer(known, for: "access", service: service, provider: .google)
            let response = try await service.signIn {
                ($0.provider, $0.accessToken, $0.clientID) = ("google", "access", client)
            }
            #expect(response.proof == .accessToken)
            await expectFailure(.invalidArgument, "CLIENT_UNKNOWN") {
                try await service.signIn { ($0.provider, $0.accessToken) = ("google", "access") }
            }
            await expectFailure(.failedPrecondition, "EXCHANGE_NOT_CONFIGURED") {
                try await service.signIn { ($0.accessToken, $0.clientID) = ("access", "com.example.app") }
            }
            await expectFailure(.failedPrecondition, "EXCHANGE_NOT_CONFIGURED") {
                try await service.signIn {
                    ($0.provider, $0.authorizationCode, $0.clientID) = ("google", "code", client)
                }
            }
        }
    }

    @Test func `Of several credentials the strongest counts, and nothing is refused`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock)
            let response = try await service.signIn {
                $0.idToken = token
                $0.nonce = TestProvider.rawNonce
                $0.accessToken = "of anybody"
                $0.clientID = "com.example.app"
                $0.unproven.dialect = "wordpress"
                $0.unproven.subject = "somebody else"
            }
            #expect(response.proof == .nonce)
            #expect(service.exchange.exchangeCount == 0)
            let account = try await service.account(response.tokens.userID)
            #expect(account.identities.map(\.subject) == ["001.person"])
            await expectFailure(.invalidArgument, "CREDENTIALS_MISSING") {
                try await service.signIn { $0.nonce = "a nonce alone" }
            }
        }
    }

    @Test func `The app's client and person must be the token's`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock)
            func signIn(client: String = "", subject: String = "") async throws {
                try await service.signIn {
                    ($0.idToken, $0.nonce) = (token, TestProvider.rawNonce)
                    ($0.clientID, $0.expectedSubject) = (client, subject)
                }
            }
            await expectFailure(.unauthenticated, "TOKEN_AUDIENCE") { try await signIn(client: "com.example.bare") }
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") { try await signIn(subject: "002.other") }
            #expect(try await service.count("sign_ins") == 0)
            try await signIn(client: "com.example.app", subject: "001.person")
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") { try await signIn(subject: "002.other") }
        }
    }
}
