import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Tokens that must be refused, each for its own reason.
struct OverrideTests {
    private static func token(_ overrides: String, _ simulation: Simulation) async throws -> String {
        let body = #"{"client_id":"c","nonce":"n","person":{"email":"a@example.com"},"overrides":\#(overrides)}"#
        return try #require(try await simulation.signIn("apple", body)["identity_token"]?.string)
    }

    @Test func `Claims are replaced and left out`() async throws {
        let simulation = try Simulation()
        let overrides = #"""
            {"issuer":"https://evil.example","audience":"other","expires_in":-5,"issued_in":-10,
             "claims":{"nonce_supported":false,"extra":[1]},"omit":["nonce","c_hash"],"text_booleans":true}
            """#
        let claims = try await simulation.verifiedClaims(Self.token(overrides, simulation), "apple")
        #expect(claims["iss"] == "https://evil.example")
        #expect(claims["aud"] == "other")
        #expect(claims["iat"] == .integer(Simulation.nowSeconds - 10))
        #expect(claims["exp"] == .integer(Simulation.nowSeconds - 15))
        #expect(claims["nonce_supported"] == false)
        #expect(claims["extra"] == [1])
        #expect(claims["nonce"] == nil && claims["c_hash"] == nil)
        #expect(claims["email_verified"] == "true")
    }

    @Test func `An unsigned token has no signature`() async throws {
        let simulation = try Simulation()
        let token = try await Self.token(#"{"algorithm":"none"}"#, simulation)
        #expect(token.hasSuffix("."))
        #expect(throws: JWSError.unsigned) { try CompactJWS(parsing: token) }
    }

    @Test func `A token with a symmetric algorithm is signed with the public key`() async throws {
        let simulation = try Simulation()
        let token = try await Self.token(#"{"algorithm":"HS256"}"#, simulation)
        #expect(throws: JWSError.unsupportedAlgorithm) { try CompactJWS(parsing: token) }
        let cut = try #require(token.lastIndex(of: "."))
        let (_, set) = try await simulation.send(.get, "/apple/auth/keys")
        let modulus = try #require(set["keys"]?.array?[0].object?["n"]?.string)
        let secret = try #require(Base64URL.decode(modulus))
        let expected = SHA256.authenticationCode(of: Array(token[..<cut].utf8), key: secret)
        #expect(Base64URL.decode(token[token.index(after: cut)...]) == expected)
    }

    @Test func `A foreign key uses the published name`() async throws {
        let simulation = try Simulation()
        let jws = try CompactJWS(parsing: await Self.token(#"{"signing_key":"foreign"}"#, simulation))
        let keyID = try #require(jws.keyID)
        let key = try #require(try await simulation.keys("apple").key(id: keyID, algorithm: .rs256))
        #expect(throws: JWSError.badSignature) { try jws.verifiedPayload(with: key) }
    }

    @Test func `An unknown key has an unpublished name`() async throws {
        let simulation = try Simulation()
        let jws = try CompactJWS(parsing: await Self.token(#"{"signing_key":"unknown"}"#, simulation))
        let keyID = try #require(jws.keyID)
        #expect(try await simulation.keys("apple").key(id: keyID, algorithm: .rs256) == nil)
    }
}
