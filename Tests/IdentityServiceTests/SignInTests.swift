import API
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

struct SignInTests {
    @Test func `The first sign-in makes an account`() async throws {
        try await TestService.run { service in
            let response = try await service.signIn(fullName: " Ana Cruz ", deviceName: "Ana's phone")
            #expect(response.isNewUser)
            #expect(response.suggestedDisplayName == "Ana Cruz")
            #expect(response.tokens.expiresInSeconds == 600)
            #expect(UserID(response.tokens.userID) != nil)
            let session = try await service.check(response.tokens.accessToken)
            #expect(session.userID == response.tokens.userID)
            #expect(session.sessionID == response.tokens.sessionID)
            #expect(session.expiresAtSeconds == service.clock.nowSeconds + 600)
            let account = try await service.account(response.tokens.userID)
            #expect(account.createdAtMs == service.clock.nowMilliseconds)
            #expect(account.suggestedDisplayName == "Ana Cruz")
            let identity = try #require(account.identities.first)
            #expect(identity.provider == "apple")
            #expect(identity.subject == "001.person")
            #expect(identity.email == "person@privaterelay.appleid.com")
            #expect(identity.emailVerified)
            #expect(identity.isPrivateEmail)
            let rows = try await service.database.query("SELECT device_name FROM sessions")
            #expect(try rows[0].decode(0, as: String?.self) == "Ana's phone")
        }
    }

    @Test func `Later sign-ins find the account and keep the name`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(fullName: "Ana Cruz")
            service.clock.advance(seconds: 100)
            let second = try await service.signIn()
            #expect(!second.isNewUser)
            #expect(second.tokens.userID == first.tokens.userID)
            #expect(second.tokens.sessionID != first.tokens.sessionID)
            #expect(second.suggestedDisplayName == "Ana Cruz", "told once, kept")
            service.clock.advance(seconds: 100)
            let third = try await service.signIn(
                fullName: "Ana Reyes",
                changes: ["email": nil as JSONValue?, "email_verified": nil as JSONValue?]
            )
            #expect(third.suggestedDisplayName == "Ana Reyes", "told again after a new authorization")
            let identity = try #require(try await service.account(first.tokens.userID).identities.first)
            #expect(identity.email == "person@privaterelay.appleid.com")
            #expect(identity.emailVerified, "a token without e-mail takes nothing away")
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `A bad name or e-mail address is dropped, not refused`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock, ["email": ""])
            let response = try await service.signIn(
                token: token,
                fullName: "\u{202e}\u{0}",
                email: "no e-mail",
                deviceName: "\u{7}"
            )
            #expect(response.isNewUser)
            #expect(response.suggestedDisplayName.isEmpty)
            #expect(try await service.account(response.tokens.userID).identities.first?.email == "")
        }
    }

    @Test func `The app's e-mail is taken unverified where the token has none`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock, ["email": nil as JSONValue?])
            let response = try await service.signIn(token: token, email: "ana@example.com")
            let identity = try #require(try await service.account(response.tokens.userID).identities.first)
            #expect(identity.email == "ana@example.com")
            #expect(!identity.emailVerified)
            #expect(!identity.isPrivateEmail)
        }
    }

    @Test func `The app's e-mail never replaces a token's`() async throws {
        try await TestService.run { service in
            let none: [String: JSONValue?] = ["email": nil as JSONValue?, "email_verified": nil as JSONValue?]
            func expect(_ email: String, verified: Bool = false, token: [String: JSONValue?], told: String) async throws
            {
                service.clock.advance(seconds: 1)
                let token = try service.provider.appleToken(at: service.clock, token)
                let response = try await service.signIn(token: token, email: told)
                let identity = try #require(try await service.account(response.tokens.userID).identities.first)
                #expect(identity.email == email)
                #expect(identity.emailVerified == verified)
                #expect(identity.isPrivateEmail == verified)
            }
            // Told, and told anew, while no token has said anything.
            try await expect("", token: none, told: "")
            try await expect("a@example.com", token: none, told: "a@example.com")
            try await expect("b@example.com", token: none, told: "b@example.com")
            // A token's counts, verified or not, and stays.
            let unverified: [String: JSONValue?] = [
                "email": "c@example.com", "email_verified": false, "is_private_email": false,
            ]
            try await expect("c@example.com", token: unverified, told: "x@example.com")
            try await expect("c@example.com", token: none, told: "ceo@victim.example")
            let verified: [String: JSONValue?] = ["email": "d@example.com"]
            try await expect("d@example.com", verified: true, token: verified, told: "")
            try await expect("d@example.com", verified: true, token: none, told: "ceo@victim.example")
            try await expect("d@example.com", verified: true, token: none, told: "")
        }
    }

    @Test func `A retry gets the same session`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let first = try await service.signIn(token: token, fullName: "Ana Cruz")
            service.clock.advance(seconds: 59)
            let again = try await service.signIn(token: token)
            #expect(again.tokens.sessionID == first.tokens.sessionID)
            #expect(again.tokens.userID == first.tokens.userID)
            #expect(again.tokens.refreshToken == first.tokens.refreshToken)
            #expect(again.isNewUser, "the first presentation made the account")
            #expect(again.suggestedDisplayName == "Ana Cruz", "also when the first answer was lost")
            #expect(try await service.count("sessions") == 1)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
        }
    }

    @Test func `After a refresh or sign-out a retry is a replay`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let first = try await service.signIn(token: token)
            _ = try await service.refresh(first.tokens.refreshToken)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
            let other = try service.provider.appleToken(subject: "002.other", at: service.clock)
            let second = try await service.signIn(token: other)
            try await service.signOut(accessToken: second.tokens.accessToken)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: other) }
        }
    }

    /// ECDSA lets anyone who sees a signature make a second valid one: (r, n − s).
    @Test func `Another signature over the same content buys no second session`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(token: service.provider.appleToken(at: service.clock))
            let signedAgain = try service.provider.appleToken(at: service.clock)
            let second = try await service.signIn(token: signedAgain)
            #expect(second.tokens.sessionID == first.tokens.sessionID)
            service.clock.advance(seconds: 61)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: signedAgain) }
        }
    }

    @Test func `Concurrent presentations of one token open one session`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let responses = try await gather(24) { _ in try await service.signIn(token: token) }
            #expect(Set(responses.map(\.tokens.sessionID)).count == 1)
            #expect(Set(responses.map(\.tokens.refreshToken)).count == 1)
            #expect(try await service.count("sessions") == 1)
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `Concurrent first sign-ins of one person make one account`() async throws {
        try await TestService.run { service in
            let tokens = try (0..<24).map {
                try service.provider.appleToken(at: service.clock, ["jti": .string("\($0)")])
            }
            let responses = try await gather(24) { number in
                try await service.signIn(token: tokens[number], fullName: number == 7 ? "Ana Cruz" : "")
            }
            #expect(Set(responses.map(\.tokens.userID)).count == 1)
            #expect(Set(responses.map(\.tokens.sessionID)).count == 24)
            #expect(responses.count { $0.isNewUser } == 1)
            #expect(try await service.count("accounts") == 1)
            let account = try await service.account(responses[0].tokens.userID)
            #expect(account.suggestedDisplayName == "Ana Cruz", "whichever came first")
        }
    }

    @Test func `Different people and providers are different accounts`() async throws {
        try await TestService.run { service in
            let apple = try await service.signIn(subject: "same")
            let other = try await service.signIn(subject: "other")
            let googleToken = try service.provider.appleToken(
                subject: "same",
                at: service.clock,
                [
                    "iss": "accounts.google.com", "aud": "example.apps.googleusercontent.com",
                    "nonce": .string(TestProvider.rawNonce), "name": "Gil", "c_hash": nil as JSONValue?,
                ]
            )
            let google = try await service.signIn(token: googleToken, provider: "google")
            #expect(google.suggestedDisplayName == "Gil", "Google's token names the person")
            #expect(Set([apple, other, google].map(\.tokens.userID)).count == 3)
        }
    }

    @Test func `Refusals name their reason`() async throws {
        try await TestService.run { service in
            let clock = service.clock
            let stranger = try SigningKey.generateP256()
            let impostor = try SigningKey.generateP256(keyID: service.provider.key.keyID)
            let none = Base64URL.encode(#"{"alg":"none","kid":"k"}"#.utf8) + ".e30."
            let cases: [(String, String)] = [
                ("not a token", "TOKEN_MALFORMED"), (none, "TOKEN_UNSIGNED"),
                (try SigningKey.generateRSA2048().signedToken(claims: [:]), "TOKEN_ALGORITHM"),
                (try service.provider.appleToken(at: clock, key: stranger), "TOKEN_KEY_UNKNOWN"),
                (try service.provider.appleToken(at: clock, key: impostor), "TOKEN_SIGNATURE"),
                (try service.provider.appleToken(at: clock, ["iss": "https://evil.example"]), "TOKEN_ISSUER"),
                (try service.provider.appleToken(at: clock, ["aud": "com.other.app"]), "TOKEN_AUDIENCE"),
                (try service.provider.appleToken(at: clock, ["exp": .integer(clock.nowSeconds - 61)]), "TOKEN_EXPIRED"),
                (
                    try service.provider.appleToken(at: clock, ["iat": .integer(clock.nowSeconds + 120)]),
                    "TOKEN_NOT_YET_VALID"
                ),
                (try service.provider.appleToken(at: clock, ["nonce": "another"]), "TOKEN_NONCE_MISMATCH"),
                (try service.provider.appleToken(at: clock, ["c_hash": "another"]), "TOKEN_CODE_HASH"),
                (try service.provider.appleToken(at: clock, ["sub": ""]), "TOKEN_SUBJECT"),
            ]
            for (token, reason) in cases {
                await expectFailure(.unauthenticated, reason) {
                    _ = try await service.signIn(token: token, code: TestProvider.code)
                }
            }
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                _ = try await service.signIn(token: "x", provider: "myspace")
            }
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISSING") {
                _ = try await service.signIn(token: service.provider.appleToken(at: clock), nonce: "")
            }
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("sign_ins") == 0)
        }
    }

    @Test(arguments: [(true, " Its audience is com.other.app."), (false, "")])
    func `The audience of a token for another app is named only where that is configured`(
        isNamed: Bool,
        said: String
    ) async throws {
        try await TestService.run(namesAudiences: isNamed) { service in
            let token = try service.provider.appleToken(at: service.clock, ["aud": "com.other.app"])
            let error = await #expect(throws: RPCError.self) { _ = try await service.signIn(token: token) }
            #expect(error?.reason == "TOKEN_AUDIENCE")
            #expect(error?.message == "The ID token was issued to another app." + said)
        }
    }

    @Test func `A good code is accepted`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            #expect(try await service.signIn(token: token, code: TestProvider.code).isNewUser)
        }
    }
}

/// The results of that many concurrent calls, in the order of their numbers.
func gather<Result: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { tasks in
        for number in 0..<count {
            tasks.addTask { (number, try await body(number)) }
        }
        var results: [(Int, Result)] = []
        for try await result in tasks { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
