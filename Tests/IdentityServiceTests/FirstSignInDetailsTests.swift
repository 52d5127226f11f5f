import API
import IdentityDomain
import JOSE
import Postgres
import RPC
import Testing

@testable import IdentityService

struct FirstSignInDetailsTests {
    private func signIn(
        _ service: TestService,
        _ token: String,
        name: String = "",
        email: String = "",
        nonce: String = TestProvider.rawNonce,
        address: String? = nil
    ) async throws -> IdentityV1.SignInResponse {
        try await service.signIn(clientAddress: address) {
            ($0.idToken, $0.nonce, $0.fullName, $0.email) = (token, nonce, name, email)
        }
    }

    /// A sign-in that fails because the provider's keys can't be fetched.
    private func fail(
        _ service: TestService,
        _ token: String,
        name: String = "Ana Cruz",
        email: String = "",
        nonce: String = TestProvider.rawNonce,
        address: String? = nil
    ) async {
        await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
            _ = try await signIn(service, token, name: name, email: email, nonce: nonce, address: address)
        }
    }

    /// Lets the keys be fetched again.
    private func bringKeysBack(_ service: TestService) {
        service.provider.setDown(false)
        service.clock.advance(seconds: 60)
    }

    @Test func `A name that was sent while the keys couldn't be fetched is kept`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock)
            await fail(service, token)
            #expect(try await service.count("told_once") == 1)
            #expect(try await service.count("accounts") == 0)
            bringKeysBack(service)
            let response = try await signIn(service, token)
            #expect(response.isNewUser)
            #expect(response.suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("told_once") == 0, "it was consumed")
            #expect(try await signIn(service, token).suggestedDisplayName == "Ana Cruz", "a retry returns it too")
        }
    }

    @Test func `A name is kept although the client disconnected while the provider was slow`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setSlow(true)
            var request = IdentityV1.SignInRequest()
            (request.provider, request.fullName) = ("apple", "Ana Cruz")
            (request.idToken, request.nonce) = (
                try service.provider.appleToken(at: service.clock), TestProvider.rawNonce
            )
            let options = CallOptions(timeout: .milliseconds(200))
            await expectFailure(.deadlineExceeded, nil) {
                _ = try await service.client.signIn(request, options: options)
            }
            // The call has ended for the client, and continues to store the name.
            for _ in 0..<200 where try await service.count("told_once") == 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
            let names: Int64 = try await service.value("SELECT count(*) FROM told_once WHERE full_name = 'Ana Cruz'")
            #expect(names == 1)
        }
    }

    @Test func `With keys at hand, forged tokens from clients that disconnect store nothing`() async throws {
        try await TestService.runWithAudiences { service in
            _ = try await service.signIn()
            service.clock.advance(seconds: 61)
            service.provider.setSlow(true)
            let stranger = try SigningKey.generateP256()
            var request = IdentityV1.SignInRequest()
            (request.provider, request.fullName, request.nonce) = ("apple", "Nobody", TestProvider.rawNonce)
            request.idToken = try service.provider.appleToken(at: service.clock, key: stranger)
            let options = CallOptions(timeout: .milliseconds(200))
            await expectFailure(.deadlineExceeded, nil) {
                _ = try await service.client.signIn(request, options: options)
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `Details in the sign-in itself win over stored ones`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock, ["email": nil as JSONValue?])
            await fail(service, token, name: "Thief", email: "thief@example.com")
            bringKeysBack(service)
            let response = try await signIn(service, token, name: "Ana Cruz", email: "ana@example.com")
            #expect(response.suggestedDisplayName == "Ana Cruz")
            let identity = try #require(try await service.account(response.tokens.userID).identities.first)
            #expect(identity.email == "ana@example.com")
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `A stored e-mail is returned as unverified, and never replaces a token's`() async throws {
        try await TestService.runWithAudiences { service in
            let none: [String: JSONValue?] = ["email": nil as JSONValue?, "email_verified": nil as JSONValue?]
            service.provider.setDown(true)
            let first = try service.provider.appleToken(at: service.clock, none)
            await fail(service, first, name: "", email: "ana@example.com")
            bringKeysBack(service)
            let userID = try await signIn(service, first).tokens.userID
            var identity = try #require(try await service.account(userID).identities.first)
            #expect(identity.email == "ana@example.com")
            #expect(!identity.emailVerified && !identity.isPrivateEmail)
            // A token's e-mail takes its place, and is not replaced by what is kept and taken afterwards.
            _ = try await service.signIn()
            var changes = none
            changes["jti"] = "2"
            let second = try service.provider.appleToken(at: service.clock, changes)
            try await service.parts.methods.store.keep(
                #require(
                    FirstSignInDetails(
                        key: CompactJWS(parsing: second).fingerprint,
                        provider: .apple,
                        fullName: "",
                        email: "ceo@victim.example"
                    )
                ),
                addressCode: nil,
                nowMilliseconds: service.clock.nowMilliseconds,
                deadline: nil
            )
            _ = try await signIn(service, second)
            identity = try #require(try await service.account(userID).identities.first)
            #expect(identity.email == "person@privaterelay.appleid.com")
            #expect(identity.emailVerified)
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `Details sent with another person's token are not used`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock)
            let another = try service.provider.appleToken(subject: "002.person", at: service.clock)
            await fail(service, another, name: "Thief")
            bringKeysBack(service)
            #expect(try await signIn(service, token).suggestedDisplayName.isEmpty)
            #expect(try await service.count("told_once") == 1)
        }
    }

    @Test func `The first details sent with a token are kept, so that a stolen token changes nothing later`()
        async throws
    {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock)
            await fail(service, token, name: "Ana Cruz")
            await fail(service, token, name: "Thief")
            bringKeysBack(service)
            #expect(try await signIn(service, token).suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `Details are kept only for a plausible token`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let (provider, clock) = (service.provider, service.clock)
            let cases: [(String, String)] = [
                (try provider.appleToken(at: clock, ["iss": "https://evil.example"]), "TOKEN_ISSUER"),
                (try provider.appleToken(at: clock, ["aud": "com.other.app"]), "TOKEN_AUDIENCE"),
                (try provider.appleToken(at: clock, ["exp": .integer(clock.nowSeconds - 61)]), "TOKEN_EXPIRED"),
                (try provider.appleToken(at: clock, ["iat": .integer(clock.nowSeconds + 99)]), "TOKEN_NOT_YET_VALID"),
                ("not a token", "TOKEN_MALFORMED"),
            ]
            for (token, reason) in cases {
                await expectFailure(.unauthenticated, reason) {
                    _ = try await signIn(service, token, name: "Ana Cruz")
                }
            }
            await fail(service, try provider.appleToken(at: clock), name: "", email: "")
            await fail(service, try provider.appleToken(at: clock), name: "\u{7}", email: "no e-mail")
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `A forged token stores a name that nobody sees`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let stranger = try SigningKey.generateP256(keyID: service.provider.key.keyID)
            let forged = try service.provider.appleToken(at: service.clock, ["jti": "forged"], key: stranger)
            await fail(service, forged, name: "Thief")
            #expect(try await service.count("told_once") == 1)
            bringKeysBack(service)
            await expectFailure(.unauthenticated, "TOKEN_SIGNATURE") { _ = try await signIn(service, forged) }
            #expect(
                try await signIn(service, service.provider.appleToken(at: service.clock)).suggestedDisplayName == ""
            )
            service.clock.advance(seconds: FirstSignInDetails.keptSeconds)
            let now = service.clock.nowMilliseconds
            #expect(try await service.parts.methods.store.forgetToldOnce(nowMilliseconds: now, limit: 10) == 1)
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `Neither one address nor all together fill the table`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            func fill(_ count: Int, from address: String) async throws {
                for _ in 0..<count {
                    let token = try service.provider.appleToken(
                        at: service.clock,
                        ["jti": .string(Base64URL.encode(SecureRandom.bytes(8)))]
                    )
                    await fail(service, token, address: address)
                }
            }
            try await fill(FirstSignInDetails.perAddressMax + 3, from: "203.0.113.7")
            #expect(try await service.count("told_once") == Int64(FirstSignInDetails.perAddressMax))
            try await fill(1, from: "203.0.113.8")
            #expect(try await service.count("told_once") == Int64(FirstSignInDetails.perAddressMax) + 1)
            let keys: Int64 = try await service.value("SELECT count(DISTINCT address_key) FROM told_once")
            #expect(keys == 2)
            try await service.database.execute(
                """
                INSERT INTO told_once (fingerprint, provider, full_name, created_at, expires_at)
                SELECT sha256(n::text::bytea), 'apple', 'Somebody', now(), now()
                FROM generate_series(1, \(Int64(FirstSignInDetails.countMax))) n
                """
            )
            let full = try await service.count("told_once")
            try await fill(1, from: "203.0.113.9")
            #expect(try await service.count("told_once") == full)
        }
    }

    @Test func `A name that was sent with a code is kept while the provider is down`() async throws {
        try await TestService.runWithAudiences { service in
            func signIn(name: String) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    ($0.authorizationCode, $0.clientID, $0.fullName) = ("code-1", "com.example.app", name)
                }
            }
            service.exchange.setError(.providerUnavailable)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") { _ = try await signIn(name: "Ana Cruz") }
            let stored: [UInt8] = try await service.value("SELECT fingerprint FROM told_once")
            #expect(stored != Array("code-1".utf8) && stored.count == 32)
            service.exchange.setError(nil)
            let token = try service.provider.appleToken(at: service.clock)
            try service.exchange.answer(token, for: "code-1", service: service)
            #expect(try await signIn(name: "").suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `A name that was sent with a token and a code is kept while the exchange is down`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            func signIn(name: String) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    ($0.idToken, $0.authorizationCode, $0.fullName) = (token, "code-1", name)
                }
            }
            service.exchange.setError(.providerUnavailable)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") { _ = try await signIn(name: "Ana Cruz") }
            service.exchange.setError(nil)
            let exchanged = try service.provider.bareToken("com.example.coded", at: service.clock, ["at_hash": "x"])
            try service.exchange.answer(exchanged, for: "code-1", service: service)
            #expect(try await signIn(name: "").suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("told_once") == 0)
        }
    }

    @Test func `Details older than a day are not used`() async throws {
        try await TestService.runWithAudiences { service in
            service.provider.setDown(true)
            let token = try service.provider.appleToken(at: service.clock)
            await fail(service, token)
            bringKeysBack(service)
            try await service.database.execute("UPDATE told_once SET expires_at = created_at")
            #expect(try await signIn(service, token).suggestedDisplayName.isEmpty)
        }
    }
}
