import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Apple's token and revocation endpoints.
struct AppleTokenTests {
    private static let path = "/apple/auth/token"

    private func refuse(
        _ simulation: Simulation,
        _ fields: [(String, String)],
        _ word: String,
        _ path: String = path,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (response, answer) = try await simulation.post(path, fields)
        #expect(response.status == .badRequest, sourceLocation: sourceLocation)
        #expect(answer["error"]?.string == word, sourceLocation: sourceLocation)
    }

    @Test func `A code buys tokens once, and the ID token is like that of Apple's token endpoint`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let code = try await simulation.code()
        let (response, tokens) = try await simulation.post(Self.path, client.exchange(code))
        #expect(response.status == .ok)
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(
            tokens.members.map(\.name) == ["access_token", "token_type", "expires_in", "refresh_token", "id_token"]
        )
        #expect(tokens["token_type"] == "Bearer" && tokens["expires_in"] == 3600)
        let claims = try await simulation.verifiedClaims(tokens["id_token"]?.string, "apple")
        #expect(claims["iss"] == "https://appleid.apple.com" && claims["aud"] == "com.example.app")
        #expect(claims["nonce"] == "n" && claims["email"] == "ana@example.com")
        #expect(claims["c_hash"] == nil)
        let access = try #require(tokens["access_token"]?.string)
        #expect(claims["at_hash"]?.string == Base64URL.encode(SHA256.hash(access).prefix(16)))
        try await refuse(simulation, client.exchange(code), "invalid_grant")
    }

    @Test func `Of many concurrent exchanges of one code one gets tokens`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let fields = try client.exchange(await simulation.code())
        let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 1...16 {
                group.addTask { try await simulation.post(Self.path, fields).0.status == .ok }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Test func `A code lives five minutes`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let (early, late) = (try await simulation.code(), try await simulation.code())
        simulation.advance(seconds: 299)
        #expect(try await simulation.post(Self.path, client.exchange(early)).0.status == .ok)
        simulation.advance(seconds: 1)
        let secret = try client.secret { $0["exp"] = .integer(Simulation.nowSeconds + 900) }
        try await refuse(simulation, client.exchange(late, secret: secret), "invalid_grant")
    }

    @Test func `A code is for its client and redirect URI, and stays valid after a failed try`() async throws {
        let simulation = try Simulation()
        let (client, other) = (try AppleClient(), try AppleClient("com.example.other"))
        let code = try await simulation.code(#","redirect_uri":"https://example.com/back""#)
        let back = [("redirect_uri", "https://example.com/back")]
        try await refuse(simulation, other.exchange(code, back), "invalid_grant")
        try await refuse(simulation, client.exchange(code), "invalid_grant")
        try await refuse(
            simulation,
            client.exchange(code, [("redirect_uri", "https://evil.example/")]),
            "invalid_grant"
        )
        #expect(try await simulation.post(Self.path, client.exchange(code, back)).0.status == .ok)
        let plain = try await simulation.code()
        try await refuse(simulation, client.exchange(plain, back), "invalid_grant")
    }

    @Test func `A challenge needs its verifier`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let verifier = String(repeating: "v", count: 43)
        let challenge = Base64URL.encode(SHA256.hash(verifier))
        let code = try await simulation.code(#","code_challenge":"\#(challenge)","code_challenge_method":"S256""#)
        try await refuse(simulation, client.exchange(code), "invalid_grant")
        try await refuse(simulation, client.exchange(code, [("code_verifier", challenge)]), "invalid_grant")
        #expect(
            try await simulation.post(Self.path, client.exchange(code, [("code_verifier", verifier)])).0.status == .ok
        )
    }

    @Test func `A code's token can be another person's`() async throws {
        let simulation = try Simulation()
        let code = try await simulation.code(#","exchange_overrides":{"claims":{"sub":"someone else"}}"#)
        let (_, tokens) = try await simulation.post(Self.path, AppleClient().exchange(code))
        #expect(try await simulation.verifiedClaims(tokens["id_token"]?.string, "apple")["sub"] == "someone else")
    }

    @Test func `A refresh token stays the same until it is revoked, and then the name is sent again`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let (_, tokens) = try await simulation.post(Self.path, client.exchange(await simulation.code()))
        let refresh = try #require(tokens["refresh_token"]?.string)
        let secret = ("client_secret", try client.secret())
        let fields = [
            ("client_id", client.clientID), secret, ("grant_type", "refresh_token"), ("refresh_token", refresh),
        ]
        for _ in 1...2 {
            let (response, again) = try await simulation.post(Self.path, fields)
            #expect(response.status == .ok)
            #expect(again.members.map(\.name) == ["access_token", "token_type", "expires_in", "id_token"])
            let claims = try await simulation.verifiedClaims(again["id_token"]?.string, "apple")
            #expect(claims["email"] == "ana@example.com" && claims["nonce"] == nil)
        }
        let early = try await simulation.code()
        let other = try AppleClient("com.example.other")
        // Another client's token, or an invalid one: 200, without effect.
        let foreign = [
            ("client_id", other.clientID), ("client_secret", try other.secret()), ("token", refresh),
        ]
        #expect(try await simulation.postForPage("/apple/auth/revoke", foreign).0.status == .ok)
        let nothing = [("client_id", client.clientID), secret, ("token", "nothing")]
        #expect(try await simulation.postForPage("/apple/auth/revoke", nothing).0.status == .ok)
        #expect(try await simulation.post(Self.path, fields).0.status == .ok)

        let revocation = [
            ("client_id", client.clientID), secret, ("token", refresh), ("token_type_hint", "refresh_token"),
        ]
        let (response, body) = try await simulation.postForPage("/apple/auth/revoke", revocation)
        #expect(response.status == .ok && body.isEmpty)
        try await refuse(simulation, fields, "invalid_grant")
        try await refuse(simulation, client.exchange(early), "invalid_grant")
        let order = #"{"client_id":"com.example.app","person":{"email":"ana@example.com","given_name":"Ana"}}"#
        #expect(try await simulation.signIn("apple", order)["user"] != nil)
    }

    @Test func `An access token can be revoked as well, and a changed one can't`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let (_, tokens) = try await simulation.post(Self.path, client.exchange(await simulation.code()))
        let access = try #require(tokens["access_token"]?.string)
        let refresh = try #require(tokens["refresh_token"]?.string)
        let proof = [("client_id", client.clientID), ("client_secret", try client.secret())]
        let changed = "r" + access.dropFirst()
        _ = try await simulation.postForPage("/apple/auth/revoke", proof + [("token", changed)])
        let fields = proof + [("grant_type", "refresh_token"), ("refresh_token", refresh)]
        #expect(try await simulation.post(Self.path, fields).0.status == .ok)
        _ = try await simulation.postForPage("/apple/auth/revoke", proof + [("token", access)])
        try await refuse(simulation, fields, "invalid_grant")
    }

    @Test func `Incomplete requests get an error that names the problem`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let proof = [("client_id", client.clientID), ("client_secret", try client.secret())]
        try await refuse(simulation, proof, "invalid_request")
        try await refuse(simulation, proof + [("grant_type", "password")], "unsupported_grant_type")
        try await refuse(simulation, proof + [("grant_type", "authorization_code")], "invalid_request")
        try await refuse(simulation, client.exchange("nothing"), "invalid_grant")
        try await refuse(simulation, client.exchange("c", [("code", "d")]), "invalid_request")
        try await refuse(simulation, [("grant_type", "authorization_code"), ("code", "c")], "invalid_client")
        try await refuse(simulation, proof, "invalid_request", "/apple/auth/revoke")
        try await refuse(simulation, [("token", "t")], "invalid_client", "/apple/auth/revoke")
        let (response, answer) = try await simulation.send(.post, Self.path, #"{"grant_type":"authorization_code"}"#)
        #expect(response.status == .badRequest && answer["error"] == "invalid_request")
    }
}
