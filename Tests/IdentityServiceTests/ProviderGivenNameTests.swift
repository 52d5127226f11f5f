import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A name that the provider sends once, with a sign-in that fails; the next sign-in has another token and no name.
struct ProviderGivenNameTests {
    private struct Try: Sendable {
        var subject = "001.person"
        var client = "com.example.app"
        var device = ""
        var nonce = TestProvider.rawNonce
        var claims: [String: JSONValue?] = [:]
    }

    /// Signs in with a token that was never used.
    @discardableResult
    private func signIn(
        _ service: TestService,
        _ attempt: Try = Try(),
        name: String = "",
        key: SigningKey? = nil
    ) async throws -> IdentityV1.SignInResponse {
        var claims = attempt.claims
        claims["aud"] = .string(attempt.client)
        claims["jti"] = .string(Base64URL.encode(SecureRandom.bytes(8)))
        let token = try service.provider.appleToken(subject: attempt.subject, at: service.clock, claims, key: key)
        return try await service.signIn {
            ($0.idToken, $0.nonce, $0.fullName, $0.deviceName) = (token, attempt.nonce, name, attempt.device)
        }
    }

    /// A sign-in that fails because the provider's keys can't be fetched.
    private func failWithoutKeys(
        _ service: TestService,
        _ attempt: Try = Try(),
        name: String = "Ana Cruz",
        key: SigningKey? = nil
    ) async {
        await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
            try await signIn(service, attempt, name: name, key: key)
        }
    }

    /// A sign-in that fails because its nonce isn't the token's.
    private func failByNonce(_ service: TestService, name: String) async {
        do {
            try await signIn(service, Try(nonce: "another"), name: name)
            Issue.record("a wrong nonce signed somebody in")
        } catch {
            let reason = (error as? RPCError)?.reason
            #expect(reason?.hasPrefix("TOKEN_NONCE") == true, "\(error)")
        }
    }

    private func bringKeysBack(_ service: TestService) {
        service.provider.setDown(false)
        service.clock.advance(seconds: 60)
    }

    @Test func `A name is kept if the keys couldn't be fetched, and the second try has another token`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service)
            bringKeysBack(service)
            let response = try await signIn(service)
            #expect(response.isNewUser && response.suggestedDisplayName == "Ana Cruz")
            #expect(try await service.account(response.tokens.userID).suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("told_once") == 0, "it was consumed")
        }
    }

    @Test func `A name is kept after a wrong nonce`() async throws {
        try await TestService.runWithAudiences { service in
            await failByNonce(service, name: "Ana Cruz")
            let isVerified: Bool = try await service.value("SELECT sealed_token IS NULL FROM told_once")
            #expect(isVerified)
            let response = try await signIn(service)
            #expect(response.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A name is kept after a wrong nonce while the keys can't be fetched`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failByNonce(service, name: "Ana Cruz")
            bringKeysBack(service)
            let response = try await signIn(service)
            #expect(response.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A name is kept after a code that the provider refuses`() async throws {
        try await TestService.runWithAudiences { service in
            func attempt(_ code: String, name: String) async throws -> IdentityV1.SignInResponse {
                let token = try service.provider.bareToken(
                    "com.example.coded",
                    at: service.clock,
                    ["jti": .string(code)]
                )
                return try await service.signIn {
                    ($0.idToken, $0.authorizationCode, $0.fullName) = (token, code, name)
                }
            }
            service.exchange.setError(.signIn(.codeSpent))
            await expectFailure(.unauthenticated, "CODE_SPENT") { _ = try await attempt("code-1", name: "Ana Cruz") }
            service.exchange.setError(nil)
            let exchanged = try service.provider.bareToken("com.example.coded", at: service.clock, ["jti": "2"])
            try service.exchange.answer(exchanged, for: "code-2", service: service)
            #expect(try await attempt("code-2", name: "").suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A form sent again with another token gets the name of the first one`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            service.provider.setDown(true)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
                _ = try await service.finishWithoutState(fullName: "Ana Cruz")
            }
            bringKeysBack(service)
            let finished = try await service.finishWithoutState(changes: ["jti": "2"])
            #expect(try await service.redeem(finished, verifier: "").suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `No other person, app or device gets a name`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service, Try(device: "Ana's phone"))
            bringKeysBack(service)
            let others = [
                Try(subject: "002.person", device: "Ana's phone"),
                Try(client: "com.example.long", device: "Ana's phone"),
            ]
            for other in others {
                let response = try await signIn(service, other)
                #expect(response.suggestedDisplayName.isEmpty)
            }
            let kept = try await service.count("told_once")
            #expect(kept == 1)
        }
        for (first, second) in [("Ana's phone", "Another phone"), ("Ana's phone", ""), ("", "Another phone")] {
            try await TestService.runWithAudiences { service in
                service.provider.setDown(true)
                await failWithoutKeys(service, Try(device: first))
                bringKeysBack(service)
                let response = try await signIn(service, Try(device: second))
                #expect(response.suggestedDisplayName.isEmpty)
            }
        }
    }

    @Test func `The same device gets its name`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service, Try(device: " Ana's phone "))
            bringKeysBack(service)
            let response = try await signIn(service, Try(device: "Ana's phone"))
            #expect(response.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A leaked token sets no name in an existing account`() async throws {
        try await TestService.runWithAudiences { service in
            let first = try await signIn(service)
            service.clock.advance(seconds: 61)
            await failByNonce(service, name: "Thief")
            #expect(try await service.count("told_once") == 1)
            let again = try await signIn(service)
            #expect(again.tokens.userID == first.tokens.userID && again.suggestedDisplayName.isEmpty)
            #expect(try await service.account(first.tokens.userID).suggestedDisplayName.isEmpty)
        }
    }

    @Test func `The name in the sign-in itself wins over a stored one`() async throws {
        try await TestService.runWithAudiences { service in
            await failByNonce(service, name: "Thief")
            let response = try await signIn(service, name: "Ana Cruz")
            #expect(response.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `Of several names the oldest counts whose token the provider signed`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let stranger = try SigningKey.generateP256(keyID: service.provider.key.keyID)
            let unknown = try SigningKey.generateP256()
            await failWithoutKeys(service, name: "Forged", key: stranger)
            service.clock.advance(seconds: 1)
            await failWithoutKeys(service, name: "Of a key that nobody has", key: unknown)
            service.clock.advance(seconds: 1)
            await failWithoutKeys(service, name: "Ana Cruz")
            service.clock.advance(seconds: 1)
            await failWithoutKeys(service, name: "Thief")
            bringKeysBack(service)
            let fetches = service.provider.fetchCount
            #expect(try await signIn(service).suggestedDisplayName == "Ana Cruz")
            #expect(service.provider.fetchCount == fetches + 1, "forged tokens fetch no keys")
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `A token is stored encrypted, and its length is limited`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service)
            let sealed: [UInt8] = try await service.value("SELECT sealed_token FROM told_once")
            #expect(!String(decoding: sealed, as: UTF8.self).contains("eyJ"))
            let long = Try(
                subject: "002.person",
                claims: ["pad": .string(String(repeating: "a", count: FirstSignInDetails.tokenBytesMax))]
            )
            await failWithoutKeys(service, long)
            let kept: Int64 = try await service.value("SELECT count(*) FROM told_once WHERE sealed_token IS NULL")
            #expect(kept == 1)
            bringKeysBack(service)
            #expect(try await signIn(service, Try(subject: "002.person")).suggestedDisplayName.isEmpty)
        }
    }

    @Test func `A repeated sign-in looks for the name again`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service)
            bringKeysBack(service)
            let token = try service.provider.appleToken(at: service.clock, ["jti": "2"])
            let first = try await service.signIn(token: token)
            // As if the process had died between creating the session and storing the name.
            try await service.database.execute("UPDATE provider_identities SET told_name = NULL")
            try await service.database.execute(
                """
                INSERT INTO told_once (fingerprint, provider, full_name, created_at, expires_at, subject, client_id)
                SELECT sha256('x'), 'apple', 'Ana Cruz', created_at, created_at + interval '1 day', '001.person',
                    'com.example.app' FROM accounts
                """
            )
            let again = try await service.signIn(token: token)
            #expect(again.tokens.sessionID == first.tokens.sessionID && again.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A name is kept for a day at most, and not beyond the account`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            await failWithoutKeys(service)
            service.provider.setDown(false)
            service.clock.advance(seconds: FirstSignInDetails.keptSeconds)
            let response = try await signIn(service)
            #expect(response.suggestedDisplayName.isEmpty)
            await failByNonce(service, name: "Ana Cruz")
            _ = try await service.client.removeAccount(.with { $0.userID = response.tokens.userID })
            #expect(try await service.count("told_once") == 0)
            #expect(try await signIn(service).suggestedDisplayName.isEmpty)
        }
    }
}
