import API
import IdentityDomain
import JOSE
import Testing

@testable import IdentityService

/// Clients that authenticate themselves by a key (`private_key_jwt`).
struct ClientAssertionTests {
    private static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private struct Keys {
        let key: SigningKey
        let other: SigningKey

        init() throws {
            key = try SigningKey.generateP256(keyID: "k1")
            other = try SigningKey.generateP256(keyID: "k1")
        }

        func clients() throws -> [OAuthClient] {
            let uris = [try RedirectURI(OAuthBench.callback)]
            return try OAuthBench.clients() + [
                OAuthClient(id: "keyed", name: "Hikers", authentication: .keys(KeySet([key])), redirectURIs: uris)
            ]
        }

        func assertion(_ changes: [String: JSONValue?] = [:], now: Int64, key: SigningKey? = nil) throws -> String {
            var claims: JSONObject = [
                "iss": "keyed", "sub": "keyed", "aud": "https://id.example.com", "jti": "one",
                "exp": .integer(now + 300), "iat": .integer(now),
            ]
            for (name, value) in changes { claims[name] = value }
            let signer = key ?? self.key
            return try signer.signedToken(claims: claims, encodedHeader: signer.encodedHeader(type: "JWT"))
        }
    }

    /// Whether the token endpoint knows the client; the code is none.
    private func error(_ assertion: String, _ bench: OAuthBench, _ changes: [String: String?] = [:]) async throws
        -> String
    {
        var form: [String: String?] = [
            "grant_type": "authorization_code", "code": "none", "client_assertion_type": Self.type,
            "client_assertion": assertion,
        ]
        for (name, value) in changes { form[name] = value }
        return try await bench.token(form.compactMapValues { $0 }).failure.error
    }

    @Test func `A client is known by an assertion of its key, once`() async throws {
        let keys = try Keys()
        try await TestService.run(providers: WebSignInTests.providers(), clients: keys.clients()) { service in
            let bench = OAuthBench(service: service)
            let now = service.clock.nowMilliseconds / 1000
            let assertion = try keys.assertion(now: now)
            #expect(try await error(assertion, bench) == "invalid_grant", "known: only the code is wrong")
            #expect(try await error(assertion, bench) == "invalid_client", "used before")
            #expect(try await error(keys.assertion(["jti": "two"], now: now), bench) == "invalid_grant")
            let inArray: JSONValue = .array(["https://id.example.com"])
            #expect(
                try await error(keys.assertion(["jti": "three", "aud": inArray], now: now), bench) == "invalid_grant"
            )
            service.clock.advance(seconds: 400)
            #expect(
                try await service.parts.methods.store.forgetClientAssertions(
                    nowMilliseconds: service.clock.nowMilliseconds,
                    limit: 10
                ) == 3
            )
        }
    }

    @Test func `Of many that show one assertion at a time one is known`() async throws {
        let keys = try Keys()
        try await TestService.run(providers: WebSignInTests.providers(), clients: keys.clients()) { service in
            let bench = OAuthBench(service: service)
            let assertion = try keys.assertion(now: service.clock.nowMilliseconds / 1000)
            let errors = try await gather(16) { _ in try await error(assertion, bench) }
            #expect(errors.count { $0 == "invalid_grant" } == 1)
            #expect(errors.count { $0 == "invalid_client" } == 15)
        }
    }

    @Test func `An assertion that isn't right is refused`() async throws {
        let keys = try Keys()
        try await TestService.run(providers: WebSignInTests.providers(), clients: keys.clients()) { service in
            let bench = OAuthBench(service: service)
            let now = service.clock.nowMilliseconds / 1000
            let wrong: [[String: JSONValue?]] = [
                ["iss": "app"], ["sub": "app"], ["aud": "https://id.example.com/oauth2/token"], ["aud": nil],
                ["aud": .array(["https://id.example.com", "https://other.example.com"])],
                ["exp": .integer(now)], ["exp": .integer(now + 331)], ["exp": nil], ["exp": "300"],
                ["iat": .integer(now + 31)], ["nbf": .integer(now + 31)], ["jti": nil], ["jti": ""],
                ["jti": .string(String(repeating: "j", count: 256))],
            ]
            for changes in wrong {
                let assertion = try keys.assertion(changes, now: now)
                #expect(try await error(assertion, bench) == "invalid_client", "\(changes)")
            }
            let stolen = try keys.assertion(now: now, key: keys.other)
            #expect(try await error(stolen, bench) == "invalid_client", "another key")
            let good = try keys.assertion(now: now)
            #expect(try await error(good, bench, ["client_id": "web"]) == "invalid_client", "for another client")
            #expect(try await error(good, bench, ["client_secret": "s"]) == "invalid_request", "in two ways")
            #expect(try await error(good, bench, ["client_assertion_type": "urn:x"]) == "invalid_client")
            #expect(try await error("x", bench, ["client_id": "keyed"]) == "invalid_client")
            let secret = ["client_assertion": nil, "client_id": "keyed", "client_secret": "s"] as [String: String?]
            #expect(try await error(good, bench, secret) == "invalid_client", "a secret where there is a key")
            #expect(try await error(good, bench) == "invalid_grant", "none of these used it up")
        }
    }
}
