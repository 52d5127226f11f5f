import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Facebook's `debug_token` and `/me`.
struct FacebookTests {
    private func token(_ simulation: Simulation, _ more: String = "") async throws -> String {
        let person = #"{"email":"ana@example.com","given_name":"Ana","family_name":"Reyes"}"#
        let order = #"{"client_id":"1234567890","person":\#(person)\#(more)}"#
        return try #require(try await simulation.signIn("facebook", order)["access_token"]?.string)
    }

    private func debug(_ simulation: Simulation, _ token: String, _ app: String) async throws -> (
        HTTPResponse.Status, JSONObject
    ) {
        let (response, body) = try await simulation.send(
            .get,
            "/facebook/debug_token?input_token=\(token)&access_token=\(app.replacing("|", with: "%7C"))"
        )
        return (response.status, body)
    }

    @Test(arguments: ["", "/v19.0"])
    func `A token is of one app and one person`(version: String) async throws {
        let simulation = try Simulation()
        let token = try await token(simulation)
        let (response, answer) = try await simulation.send(
            .get,
            "/facebook\(version)/debug_token?input_token=\(token)&access_token=1234567890%7Csecret"
        )
        #expect(response.status == .ok)
        let data = try #require(answer["data"]?.object)
        #expect(data["app_id"] == "1234567890" && data["is_valid"] == true && data["type"] == "USER")
        #expect(data["expires_at"] == .integer(Simulation.nowSeconds + 5_184_000))
        #expect(data["issued_at"] == .integer(Simulation.nowSeconds) && data["scopes"] == ["email", "public_profile"])
        let (_, me) = try await simulation.send(
            .get,
            "/facebook\(version)/me?fields=id,name,email&access_token=\(token)"
        )
        #expect(me["id"] == data["user_id"] && me["name"] == "Ana Reyes" && me["email"] == "ana@example.com")
        let (_, short) = try await simulation.send(.get, "/facebook\(version)/me?access_token=\(token)")
        #expect(Set(short.members.map(\.name)) == ["id", "name"])
    }

    @Test func `A token of another app, one that is over and one that is none are not valid`() async throws {
        let simulation = try Simulation()
        let good = try await token(simulation)
        let (status, foreign) = try await debug(simulation, good, "999|secret")
        #expect(status == .badRequest && foreign["data"] == nil)
        #expect(foreign["error"]?.object?["code"] == 100)
        #expect(foreign["error"]?.object?["type"] == "OAuthException")
        let (_, nothing) = try await debug(simulation, "nothing", "1234567890|secret")
        #expect(nothing["data"]?.object?["error"]?.object?["code"] == 190)
        let old = try await token(simulation, #","access_token_expires_in":-1"#)
        let (_, over) = try await debug(simulation, old, "1234567890|secret")
        #expect(over["data"]?.object?["is_valid"] == false)
        #expect(over["data"]?.object?["error"]?.object?["subcode"] == 463)
        for token in [old, "nothing", ""] {
            let (response, answer) = try await simulation.send(.get, "/facebook/me?access_token=\(token)")
            #expect(response.status == .badRequest)
            #expect(answer["error"]?.object?["type"] == "OAuthException")
        }
        let google = #"{"client_id":"1234567890","person":{"email":"a@example.com"}}"#
        let other = try await simulation.signIn("google", google)["access_token"]?.string ?? ""
        #expect(try await debug(simulation, other, "1234567890|s").1["data"]?.object?["is_valid"] == false)
    }

    @Test func `The app proves itself, with the right secret where one is registered`() async throws {
        let simulation = try Simulation()
        let token = try await token(simulation)
        for app in ["", "1234567890", "|secret", "1234567890|"] {
            #expect(try await debug(simulation, token, app).0 == .badRequest)
        }
        _ = try await simulation.send(
            .post,
            "/control/facebook/clients",
            #"{"client_id":"1234567890","client_secret":"right"}"#
        )
        #expect(try await debug(simulation, token, "1234567890|wrong").0 == .badRequest)
        #expect(try await debug(simulation, token, "1234567890|right").0 == .ok)
        let proof = Hex.encode(SHA256.authenticationCode(of: Array(token.utf8), key: Array("right".utf8)))
        let path = "/facebook/me?access_token=\(token)&appsecret_proof="
        #expect(try await simulation.send(.get, path + proof).0.status == .ok)
        #expect(try await simulation.send(.get, path + proof.replacing("a", with: "b")).0.status == .badRequest)
    }
}
