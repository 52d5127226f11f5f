import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Endpoints that go wrong when told to, and counts of their calls.
struct MisbehaviourTests {
    private func misbehave(_ simulation: Simulation, _ order: String) async throws {
        let (response, answer) = try await simulation.send(.post, "/control/misbehave", order)
        try #require(response.status == .ok, "\(answer.text)")
    }

    private func exchange(_ simulation: Simulation, _ code: String) async throws -> HandlerClient.Answer {
        try await simulation.ask(
            .post,
            "/apple/auth/token",
            Simulation.form(AppleClient().exchange(code)),
            headers: [.contentType: "application/x-www-form-urlencoded"]
        )
    }

    @Test func `An error spares the code, unless it comes after the work`() async throws {
        let simulation = try Simulation()
        let code = try await simulation.code()
        try await misbehave(simulation, #"{"provider":"apple","endpoint":"token","mode":"error","times":2}"#)
        #expect(try await exchange(simulation, code).status.code == 503)
        #expect(try await exchange(simulation, code).status.code == 503)
        #expect(try await exchange(simulation, code).status == .ok)
        let spent = try await simulation.code()
        try await misbehave(
            simulation,
            #"{"provider":"apple","endpoint":"token","mode":"error","status":429,"error":"slow_down","after_work":true,"times":1}"#
        )
        let failed = try await exchange(simulation, spent)
        #expect(failed.status.code == 429 && failed.text == #"{"error":"slow_down"}"#)
        #expect(try await exchange(simulation, spent).status == .badRequest)
    }

    @Test func `An answer is late, garbage or another place's`() async throws {
        let simulation = try Simulation()
        let code = try await simulation.code()
        try await misbehave(
            simulation,
            #"{"provider":"apple","endpoint":"token","mode":"slow","delay_ms":120,"times":1}"#
        )
        let start = ContinuousClock.now
        #expect(try await exchange(simulation, code).status == .ok)
        let took = ContinuousClock.now - start
        #expect(took >= .milliseconds(120))
        try await misbehave(simulation, #"{"provider":"google","endpoint":"tokeninfo","mode":"garbage"}"#)
        let garbage = try await simulation.ask(.get, "/google/tokeninfo?access_token=t")
        #expect(garbage.status == .ok && garbage.headers[.contentType] == "application/json")
        #expect(throws: JSONError.self) { try JSONObject(parsing: garbage.body) }
        try await misbehave(
            simulation,
            #"{"provider":"facebook","endpoint":"all","mode":"redirect","location":"https://evil.example/"}"#
        )
        for path in ["/facebook/me", "/facebook/v2.0/debug_token", "/facebook/.well-known/oauth/openid/jwks/"] {
            let response = try await simulation.ask(.get, path)
            #expect(response.status == .found && response.headers[.location] == "https://evil.example/")
        }
        try await misbehave(simulation, #"{"provider":"facebook","endpoint":"all","mode":"off"}"#)
        #expect(try await simulation.keys("facebook").entries.count == 2)
    }

    @Test func `Every call of an endpoint is counted, until the counts are reset`() async throws {
        let simulation = try Simulation()
        let (_, none) = try await simulation.send(.get, "/control/counts")
        #expect(none["apple"] == ["keys": 0, "authorize": 0, "token": 0, "revoke": 0, "usermigrationinfo": 0])
        #expect(none["google"] == ["keys": 0, "authorize": 0, "token": 0, "revoke": 0, "tokeninfo": 0, "userinfo": 0])
        #expect(none["facebook"] == ["keys": 0, "debug_token": 0, "me": 0])
        _ = try await simulation.keys("apple")
        _ = try await simulation.keys("apple")
        _ = try await exchange(simulation, "nothing")
        try await misbehave(simulation, #"{"provider":"google","keys":"error"}"#)
        _ = try await simulation.ask(.get, "/google/oauth2/v3/certs")
        let (_, some) = try await simulation.send(.get, "/control/counts")
        #expect(some["apple"] == ["keys": 2, "authorize": 0, "token": 1, "revoke": 0, "usermigrationinfo": 0])
        #expect(some["google"]?.object?["keys"] == 1)
        let (_, reset) = try await simulation.send(.post, "/control/counts/reset")
        #expect(reset == none)
        #expect(try await simulation.send(.get, "/control/counts").1 == none)
    }

    @Test func `Tables never hold more than their maximum, and forget the oldest first`() {
        var table = BoundedTable<Int>(countMax: 3)
        for number in 1...5 { table.keep(number, as: "\(number)") }
        table.keep(33, as: "3")
        #expect(table.count == 3)
        #expect(table.newestFirst == [5, 4, 33])
        #expect(table["2"] == nil && table["5"] == 5)
    }
}
