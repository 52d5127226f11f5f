import IdentityDomain
import JOSE
import OutgoingHTTP
import Postgres
import ServiceKit
import Testing

@testable import IdentityService

struct CodeExchangeTests {
    @Test func `The request follows RFC 6749 and Apple's rules, and the returned token is verified`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            let uri = "https://a.example/cb"
            let exchanged = try await bench.exchange("c0de", redirectURI: uri, codeVerifier: "verifier")
            #expect(exchanged.claims.subject == "001.person")
            #expect(exchanged.claims.audience == "com.example.app")
            #expect(exchanged.claims.nonceVerdict == .notProven, "no nonce was asked for")
            #expect(exchanged.claims.email == "person@privaterelay.appleid.com")
            let request = try #require(bench.http.requests.first)
            #expect("\(request)" == "POST https://provider.example/apple/token")
            #expect(request.field("grant_type") == "authorization_code")
            #expect(request.field("client_id") == "com.example.app")
            #expect(request.field("code") == "c0de")
            #expect(request.field("redirect_uri") == uri)
            #expect(request.field("code_verifier") == "verifier")
            let secret = try CompactJWS(parsing: #require(request.field("client_secret")))
            let claims = try JSONObject(parsing: secret.verifiedPayload(with: bench.appleKey.verificationKey))
            #expect(secret.keyID == "KEY1234567")
            #expect(claims["iss"] == "ABCDE12345")
            #expect(claims["sub"] == "com.example.app")
            #expect(claims["aud"] == "https://appleid.apple.com", "whatever the URL")
            #expect(bench.count("apple", "code", "told") == "1")
        }
    }

    @Test func `Parameters that the sign-in didn't use aren't sent`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            _ = try await bench.exchange("c0de")
            let request = try #require(bench.http.requests.first)
            #expect(request.field("redirect_uri") == nil)
            #expect(request.field("code_verifier") == nil)
        }
    }

    @Test func `A code that the provider refuses is spent, and isn't sent again for a while`() async throws {
        try await ExchangeBench.run(replicas: 2) { bench in
            bench.http.answer(400, #"{"error":"invalid_grant"}"#)
            for replica in [0, 1, 0] {
                await #expect(throws: IdentityError.signIn(.codeSpent)) {
                    try await bench.exchange("c0de", replica: replica)
                }
            }
            #expect(bench.http.requests.count == 1)
            #expect(bench.count("apple", "code", "refused") == "1")
            #expect(bench.count("apple", "code", "repeated", replica: 1) == "1")
        }
    }

    @Test func `A provider that refuses our client credentials is our error, and spends no code`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(400, #"{"error":"invalid_client"}"#)
            for _ in 0..<2 {
                await #expect(throws: IdentityError.signIn(.exchangeNotConfigured)) { try await bench.exchange("c0de") }
            }
            #expect(bench.log.text.split(separator: "\n").filter { $0.hasPrefix("error provider asked") }.count == 1)
            #expect(bench.log.text.contains("invalid_client"))
            #expect(try await bench.codeCount() == 0)
            bench.http.answer(200, try bench.answer())
            _ = try await bench.exchange("c0de")
        }
    }

    @Test func `Tokens that the provider should not have given are refused`() async throws {
        try await ExchangeBench.run { bench in
            let otherKey = try SigningKey.generateP256(keyID: bench.provider.key.keyID)
            let now = bench.clock.nowSeconds
            let answers: [(String, IdentityError)] = [
                (try bench.answer(["aud": "com.example.debug"]), .signIn(.codeForeign)),
                (try bench.answer(["aud": "com.stranger.app"]), .token(.audience)),
                (try bench.answer(["iss": "https://accounts.google.com"]), .token(.issuer)),
                (try bench.answer(["iat": .integer(now - 90_000), "exp": .integer(now - 3600)]), .token(.expired)),
                (try bench.answer(key: otherKey), .token(.signature)),
                (#"{"id_token":"no.token"}"#, .token(.malformed)),
            ]
            for (index, (answer, fault)) in answers.enumerated() {
                bench.http.answer(200, answer)
                await #expect(throws: fault) { try await bench.exchange("c0de \(index)") }
            }
        }
    }

    @Test func `Without keys the code is still exchanged, and the token is verified at the next try`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            bench.provider.setDown(true)
            await #expect(throws: IdentityError.providerUnavailable) { try await bench.exchange("c0de") }
            bench.provider.setDown(false)
            bench.clock.advance(seconds: 30)
            #expect(try await bench.exchange("c0de").claims.subject == "001.person")
            #expect(bench.http.requests.count == 1)
        }
    }

    @Test func `The result of an exchange can be fetched again for five minutes, then the code is spent`()
        async throws
    {
        try await ExchangeBench.run(replicas: 2) { bench in
            bench.http.answer(200, try bench.answer())
            let first = try await bench.exchange("c0de")
            bench.clock.advance(seconds: 299)
            #expect(try await bench.exchange("c0de", replica: 1) == first)
            bench.clock.advance(seconds: 1)
            await #expect(throws: IdentityError.signIn(.codeSpent)) { try await bench.exchange("c0de") }
            #expect(bench.http.requests.count == 1)
        }
    }

    /// Otherwise somebody who saw the code could get the result meant for its owner.
    @Test func `The result of an exchange needs the same verifier and redirect URI`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            _ = try await bench.exchange("c0de", redirectURI: "https://a.example/cb", codeVerifier: "verifier")
            bench.http.answer(400, #"{"error":"invalid_grant"}"#)
            for (redirectURI, verifier, client) in [
                ("https://a.example/cb", "", "com.example.app"), ("", "verifier", "com.example.app"),
                ("https://a.example/cb", "verifier", "com.example.debug"),
            ] {
                await #expect(throws: IdentityError.signIn(.codeSpent)) {
                    try await bench.exchange("c0de", clientID: client, redirectURI: redirectURI, codeVerifier: verifier)
                }
            }
            #expect(bench.http.requests.count == 4)
        }
    }

    @Test func `A stored result can't be read without the code`() async throws {
        try await ExchangeBench.run { bench in
            let answer = try bench.answer()
            bench.http.answer(200, answer)
            _ = try await bench.exchange("c0de")
            let rows = try await bench.store.database.query("SELECT code_hash, content FROM code_exchanges")
            let (hash, content) = try #require(rows.first).decode([UInt8].self, [UInt8].self)
            let grant = try #require(
                ExchangeBench.grant("c0de")
            )
            #expect(hash == grant.hash)
            #expect(!String(decoding: content, as: UTF8.self).contains("eyJ"))
            let tokens = ExchangedTokens(parsing: try #require(grant.open(content)))
            #expect(answer.contains(tokens.idToken) && tokens.refreshToken == "r")
            let other = try #require(
                ExchangeBench.grant("c0dE")
            )
            #expect(other.open(content) == nil)
        }
    }

    @Test func `Clients need credentials, except for public ones with a verifier`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(400, #"{"error":"invalid_grant"}"#)
            await #expect(throws: IdentityError.signIn(.clientUnknown)) {
                try await bench.exchange("c0de", clientID: "com.stranger.app")
            }
            // Apple has no public clients.
            for verifier in ["", "verifier"] {
                await #expect(throws: IdentityError.signIn(.exchangeNotConfigured)) {
                    try await bench.exchange("c0de", clientID: "com.example.bare", codeVerifier: verifier)
                }
            }
            await #expect(throws: IdentityError.signIn(.exchangeNotConfigured)) {
                try await bench.exchange("c0de", clientID: "ios", provider: .google)
            }
            #expect(bench.http.requests.isEmpty)
            for (client, secret) in [("ios", nil), ("web", "the-web-secret")] {
                await #expect(throws: IdentityError.signIn(.codeSpent)) {
                    try await bench.exchange("c0de", clientID: client, codeVerifier: "verifier", provider: .google)
                }
                #expect(bench.http.requests.last?.field("client_secret") == secret)
            }
        }
    }

    @Test func `A malformed code is not sent`() async throws {
        try await ExchangeBench.run { bench in
            for code in ["", String(repeating: "c", count: CodeGrant.codeBytesMax + 1), "c\r\nd", "çode"] {
                await #expect(throws: IdentityError.signIn(.codeSpent)) { try await bench.exchange(code) }
            }
            let verifier = String(repeating: "v", count: CodeGrant.codeVerifierBytesMax + 1)
            await #expect(throws: IdentityError.signIn(.codeSpent)) {
                try await bench.exchange("c0de", codeVerifier: verifier)
            }
            #expect(bench.http.requests.isEmpty)
        }
    }

    @Test func `An address that guesses codes is slowed down, and others aren't`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(400, #"{"error":"invalid_grant"}"#)
            for index in 0..<ExchangeAdmission.refusalsByAddressMax {
                await #expect(throws: IdentityError.signIn(.codeSpent)) {
                    try await bench.exchange("made up \(index)", address: [1])
                }
            }
            let asked = bench.http.requests.count
            bench.http.answer(200, try bench.answer())
            await #expect(throws: IdentityError.exchange(.tooManyRefused(retryAfterMilliseconds: 60_000))) {
                try await bench.exchange("good", address: [1])
            }
            #expect(bench.http.requests.count == asked)
            #expect(bench.count("apple", "code", "shed") == "1")
            _ = try await bench.exchange("good", address: [2])
            bench.clock.advance(seconds: 60)
            _ = try await bench.exchange("good", address: [1])
        }
    }

    @Test func `Exchanges are forgotten after their time`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            _ = try await bench.exchange("good")
            bench.http.answer(400, #"{"error":"invalid_grant"}"#)
            await #expect(throws: IdentityError.signIn(.codeSpent)) { try await bench.exchange("bad") }
            await bench.replicas[0].cleanup.clean()
            #expect(try await bench.codeCount() == 2)
            bench.clock.advance(seconds: 60)
            await bench.replicas[0].cleanup.clean()
            #expect(try await bench.codeCount() == 1)
            bench.clock.advance(seconds: 840)
            await bench.replicas[0].cleanup.clean()
            #expect(try await bench.codeCount() == 0)
        }
    }

    @Test func `The log has neither secrets nor personal data`() async throws {
        try await ExchangeBench.run { bench in
            let answer = try bench.answer()
            bench.http.answer(200, answer)
            _ = try await bench.exchange("c0de-secret", codeVerifier: "verifier-secret", address: [9])
            bench.http.answer(400, #"{"error":"invalid_grant","error_description":"secret of person@example.com"}"#)
            await #expect(throws: IdentityError.self) { try await bench.exchange("other-c0de-secret") }
            bench.http.answer(418, #"{"error":"other-c0de-secret"}"#)
            await #expect(throws: IdentityError.self) { try await bench.exchange("third-c0de-secret") }
            #expect(bench.log.text.contains("outcome"))
            for secret in ["secret", "person", "eyJ"] { #expect(!bench.log.text.contains(secret)) }
        }
    }
}
