import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Apps that move to another team, and their users.
struct TransferTests {
    private static let path = "/apple/auth/usermigrationinfo"
    private static let person =
        #"{"client_id":"com.example.app","person":{"email":"ana@example.com","hide_email":true,"given_name":"Ana"}}"#

    /// The client credentials of a team's app.
    private func proof(_ client: AppleClient, _ team: String) throws -> [(String, String)] {
        [("client_id", client.clientID), ("client_secret", try client.secret { $0["iss"] = .string(team) })]
    }

    private func token(_ simulation: Simulation, _ proof: [(String, String)]) async throws -> HTTPFields {
        let form = proof + [("grant_type", "client_credentials"), ("scope", "user.migration")]
        let (response, answer) = try await simulation.post("/apple/auth/token", form)
        #expect(response.status == .ok && answer["token_type"] == "Bearer" && answer["expires_in"] == 3600)
        return [.authorization: "Bearer \(try #require(answer["access_token"]?.string))"]
    }

    private func move(_ simulation: Simulation, _ team: String, isOver: Bool = false) async throws {
        let body = #"{"client_id":"com.example.app","to_team":"\#(team)","is_over":\#(isOver)}"#
        #expect(try await simulation.send(.post, "/control/apple/transfer", body).0.status == .ok)
    }

    private func claims(_ simulation: Simulation) async throws -> JSONObject {
        try await simulation.verifiedClaims(simulation.signIn("apple", Self.person)["identity_token"]?.string, "apple")
    }

    @Test func `A user is exported, and the new team gets the identifiers that are in its tokens`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let before = try await claims(simulation)
        #expect(before["transfer_sub"] == nil)
        let (old, new) = (try proof(client, "OLDTEAM001"), try proof(client, "NEWTEAM001"))
        let (oldToken, newToken) = (try await token(simulation, old), try await token(simulation, new))
        let subject = try #require(before["sub"]?.string)
        let handing = old + [("sub", subject), ("target", "NEWTEAM001")]
        let (response, handed) = try await simulation.post(Self.path, handing, headers: oldToken)
        #expect(response.status == .ok && handed.members.map(\.name) == ["transfer_sub"])
        let transferSubject = try #require(handed["transfer_sub"]?.string)
        let arriving = new + [("transfer_sub", transferSubject)]
        #expect(try await simulation.post(Self.path, arriving, headers: newToken).1 == ["error": "invalid_request"])

        try await move(simulation, "NEWTEAM001")
        let arrived = try await simulation.post(Self.path, arriving, headers: newToken).1
        let after = try await claims(simulation)
        #expect(after["sub"] != before["sub"] && after["email"] != before["email"])
        #expect(after["transfer_sub"]?.string == transferSubject)
        #expect(arrived["sub"] == after["sub"] && arrived["email"] == after["email"])
        #expect(arrived["is_private_email"] == true)
        // Both teams can ask for 60 days, and the answer stays the same.
        #expect(try await simulation.post(Self.path, handing, headers: oldToken).1 == handed)

        try await move(simulation, "THIRDTEAM1")
        let third = try await claims(simulation)
        #expect(third["sub"] != after["sub"] && third["transfer_sub"]?.string != transferSubject)
        let over = try await simulation.send(
            .post,
            "/control/apple/transfer",
            #"{"client_id":"com.example.app","is_over":true}"#
        )
        #expect(over.0.status == .ok)
        let late = try await claims(simulation)
        #expect(late["sub"] == third["sub"] && late["transfer_sub"] == nil)
    }

    @Test func `The former team's grants are invalid for the new one, and no user is new`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        _ = try await simulation.signIn("apple", Self.person)
        let (_, tokens) = try await simulation.post("/apple/auth/token", client.exchange(await simulation.code()))
        let refresh = [
            ("grant_type", "refresh_token"), ("refresh_token", try #require(tokens["refresh_token"]?.string)),
        ]
        let form = try proof(client, AppleClient.teamID) + refresh
        #expect(try await simulation.post("/apple/auth/token", form).0.status == .ok)
        try await move(simulation, "NEWTEAM001")
        #expect(try await simulation.post("/apple/auth/token", form).1["error"] == "invalid_grant")
        let again = try await simulation.signIn("apple", Self.person)
        #expect(again["user"] == nil)
        let code = try #require(again["authorization_code"]?.string)
        let (_, exchanged) = try await simulation.post("/apple/auth/token", client.exchange(code))
        let claims = try await simulation.verifiedClaims(exchanged["id_token"]?.string, "apple")
        #expect(claims["transfer_sub"] != nil)
    }

    @Test func `The caller and the user of a request are checked`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let subject = try #require(try await claims(simulation)["sub"]?.string)
        let proof = try proof(client, "OLDTEAM001")
        let token = try await token(simulation, proof)
        func ask(_ fields: [(String, String)], _ headers: HTTPFields) async throws -> (HTTPResponse.Status, JSONValue?)
        {
            let (response, answer) = try await simulation.post(Self.path, fields, headers: headers)
            return (response.status, answer["error"])
        }
        let good = [("sub", subject), ("target", "NEWTEAM001")]
        #expect(try await ask(proof + good, [:]) == (.unauthorized, "invalid_token"))
        let others = try self.proof(client, "OTHERTEAM1")
        #expect(try await ask(others + good, token) == (.unauthorized, "invalid_token"))
        #expect(try await ask(good, token) == (.badRequest, "invalid_client"))
        for wrong in [
            [("sub", subject)], [("sub", subject), ("target", "OLDTEAM001")], [("target", "NEWTEAM001")],
            [("sub", "nobody"), ("target", "NEWTEAM001")], [("transfer_sub", "nothing")],
        ] {
            #expect(try await ask(proof + wrong, token) == (.badRequest, "invalid_request"))
        }
        let (_, refused) = try await simulation.post(
            "/apple/auth/token",
            proof + [("grant_type", "client_credentials"), ("scope", "openid")]
        )
        #expect(refused["error"] == "invalid_scope")
        let never = try await simulation.send(
            .post,
            "/control/apple/transfer",
            #"{"client_id":"com.x","is_over":true}"#
        )
        #expect(never.0.status == .conflict)
        let nowhere = try await simulation.send(.post, "/control/apple/transfer", #"{"client_id":"com.x"}"#)
        #expect(nowhere.0.status == .badRequest || nowhere.0.status.code == 422)
        simulation.advance(seconds: 3600)
        let late = [
            ("client_id", client.clientID),
            (
                "client_secret",
                try client.secret {
                    $0["iss"] = "OLDTEAM001"
                    $0["exp"] = .integer(Simulation.nowSeconds + 4000)
                }
            ),
        ]
        #expect(try await ask(late + good, token) == (.unauthorized, "invalid_token"))
    }

    @Test func `A move is kept between runs`() async throws {
        var state = try Simulation.freshState.get()
        state.setMove(AppMove(teams: ["NEWTEAM001"], isOver: true), of: "com.example.app") { "1" }
        let (kept, isOld) = try SimulatorState.parse(state.serialized())
        #expect(kept.moves == state.moves && !isOld)
    }
}
