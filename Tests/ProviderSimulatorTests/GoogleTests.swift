import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Google's token endpoint, and its answers about access tokens.
struct GoogleTests {
    private static let clientID = "com.example.app"

    private func exchange(_ code: String, _ more: [(String, String)] = []) -> [(String, String)] {
        [("client_id", Self.clientID), ("code", code), ("grant_type", "authorization_code")] + more
    }

    @Test func `A code buys tokens once`() async throws {
        let simulation = try Simulation()
        let code = try await simulation.code(of: "google")
        let (response, tokens) = try await simulation.post("/google/token", exchange(code, [("redirect_uri", "")]))
        #expect(response.status == .ok)
        #expect(
            tokens.members.map(\.name) == [
                "access_token", "expires_in", "scope", "token_type", "id_token", "refresh_token",
            ]
        )
        let claims = try await simulation.verifiedClaims(tokens["id_token"]?.string, "google")
        #expect(claims["aud"]?.string == Self.clientID && claims["nonce"] == "n")
        let access = try #require(tokens["access_token"]?.string)
        #expect(claims["at_hash"]?.string == Base64URL.encode(SHA256.hash(access).prefix(16)))
        let (_, info) = try await simulation.send(.get, "/google/tokeninfo?access_token=\(access)")
        #expect(info["aud"]?.string == Self.clientID)
        let (refused, answer) = try await simulation.post("/google/token", exchange(code))
        #expect(refused.status == .badRequest && answer["error"] == "invalid_grant")
    }

    @Test func `A registered secret is checked, in the form or as Basic`() async throws {
        let simulation = try Simulation()
        _ = try await simulation.send(
            .post,
            "/control/google/clients",
            #"{"client_id":"com.example.app","client_secret":"top:secret"}"#
        )
        let code = try await simulation.code(of: "google")
        for more in [[], [("client_secret", "wrong")]] {
            let (response, answer) = try await simulation.post("/google/token", exchange(code, more))
            #expect(response.status == .unauthorized && answer["error"] == "invalid_client")
        }
        let (response, _) = try await simulation.post(
            "/google/token",
            exchange(code, [("client_secret", "top:secret")])
        )
        #expect(response.status == .ok)
        let second = try await simulation.code(of: "google")
        // RFC 6749 section 2.3.1: both halves are encoded as forms are.
        let pair = "com.example.app:top%3Asecret"
        let (basic, _) = try await simulation.post(
            "/google/token",
            [("code", second), ("grant_type", "authorization_code")],
            headers: [.authorization: "Basic \(Self.base64(pair))"]
        )
        #expect(basic.status == .ok)
    }

    @Test func `Foreign codes, other redirect URIs and other grants are refused with Google's errors`() async throws {
        let simulation = try Simulation()
        let code = try await simulation.code(of: "google", #","redirect_uri":"https://example.com/back""#)
        func word(_ fields: [(String, String)]) async throws -> String? {
            try await simulation.post("/google/token", fields).1["error"]?.string
        }
        #expect(try await word(exchange(code)) == "redirect_uri_mismatch")
        #expect(
            try await word([("client_id", "other"), ("code", code), ("grant_type", "authorization_code")])
                == "unauthorized_client"
        )
        #expect(try await word(exchange("nothing")) == "invalid_grant")
        #expect(try await word([("client_id", "other"), ("grant_type", "password")]) == "unsupported_grant_type")
        #expect(try await word([("grant_type", "authorization_code")]) == "invalid_request")
        // Apple's tokens are not Google's.
        #expect(try await word(exchange(simulation.code())) == "invalid_grant")
        #expect(try await word(exchange(code, [("redirect_uri", "https://example.com/back")])) == nil)
    }

    @Test func `An app's first code brings a refresh token, which is valid until it is revoked`() async throws {
        let simulation = try Simulation()
        func tokens() async throws -> JSONObject {
            try await simulation.post("/google/token", exchange(simulation.code(of: "google"))).1
        }
        let refresh = try #require(try await tokens()["refresh_token"]?.string)
        #expect(try await tokens()["refresh_token"] == nil, "only with the first code")
        let grant = [("client_id", Self.clientID), ("grant_type", "refresh_token"), ("refresh_token", refresh)]
        let (good, renewed) = try await simulation.post("/google/token", grant)
        #expect(good.status == .ok && renewed["refresh_token"] == nil)
        let access = try #require(renewed["access_token"]?.string)
        let (_, info) = try await simulation.send(.get, "/google/tokeninfo?access_token=\(access)")
        #expect(info["aud"]?.string == Self.clientID)
        // Another client can't use it.
        let (foreign, _) = try await simulation.post("/google/token", [("client_id", "other")] + grant.dropFirst())
        #expect(foreign.status == .badRequest)
        let (revoked, _) = try await simulation.post("/google/revoke", [("token", refresh)])
        #expect(revoked.status == .ok)
        let (refused, answer) = try await simulation.post("/google/token", grant)
        #expect(refused.status == .badRequest && answer["error"] == "invalid_grant")
        let (again, problem) = try await simulation.post("/google/revoke", [("token", refresh)])
        #expect(again.status == .badRequest && problem["error"] == "invalid_token")
        #expect(try await simulation.post("/google/revoke", [("other", "")]).0.status == .badRequest)
        #expect(try await tokens()["refresh_token"] != nil, "the consent is given anew")
    }

    @Test func `An access token has its audience and person, until it expires`() async throws {
        let simulation = try Simulation()
        let order = #"{"client_id":"c","person":{"email":"a@example.com","given_name":"Ana"}}"#
        let answer = try await simulation.signIn("google", order)
        let token = try #require(answer["access_token"]?.string)
        let subject = try Simulation.unverifiedClaims(answer["id_token"]?.string)["sub"]
        let (_, info) = try await simulation.send(.get, "/google/tokeninfo?access_token=\(token)")
        #expect(info["aud"] == "c" && info["azp"] == "c" && info["sub"] == subject)
        #expect(info["expires_in"] == "3600" && info["email_verified"] == "true" && info["email"] == "a@example.com")
        let (_, posted) = try await simulation.post("/google/tokeninfo", [("access_token", token)])
        #expect(posted == info)
        let response = try await simulation.ask(
            .get,
            "/google/oauth2/v3/userinfo",
            headers: [.authorization: "Bearer \(token)"]
        )
        let person = try JSONObject(parsing: response.body)
        #expect(person["sub"] == subject && person["given_name"] == "Ana" && person["email_verified"] == true)
        simulation.advance(seconds: 3600)
        let (expired, problem) = try await simulation.send(.get, "/google/tokeninfo?access_token=\(token)")
        #expect(expired.status == .badRequest && problem["error"] == "invalid_token")
        let (refused, _) = try await simulation.send(.get, "/google/oauth2/v3/userinfo?access_token=\(token)")
        #expect(refused.status == .unauthorized)
        // Facebook's token is not Google's.
        let facebook = try await simulation.signIn("facebook", order)["access_token"]?.string ?? ""
        #expect(try await simulation.send(.get, "/google/tokeninfo?access_token=\(facebook)").0.status == .badRequest)
        #expect(try await simulation.send(.get, "/google/tokeninfo?access_token=%zz").0.status == .badRequest)
    }

    static func base64(_ text: String) -> String {
        let encoded = Base64URL.encode(text.utf8).replacing("-", with: "+").replacing("_", with: "/")
        return encoded + String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
    }
}
