import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import Testing

@testable import ProviderSimulator

/// The people to pick from, and the page that has them.
struct PeopleTests {
    @Test func `Some people are always there, with a subject at each provider`() async throws {
        let simulation = try Simulation()
        let (_, answer) = try await simulation.send(.get, "/control/people")
        let people = try #require(answer["people"]?.array).compactMap(\.object)
        #expect(people.map { $0["given_name"]?.string } == Cast.people.map(\.given))
        let maria = try #require(people.first)
        let body = #"{"client_id":"c","person":{"email":"maria.santos@example.com"}}"#
        for (provider, token) in [("apple", "identity_token"), ("google", "id_token")] {
            let claims = try await simulation.verifiedClaims(
                try await simulation.signIn(provider, body)[token]?.string,
                provider
            )
            #expect(claims["sub"] == maria["subjects"]?.object?[provider])
        }
    }

    @Test func `People who signed in are there too, once`() async throws {
        let simulation = try Simulation()
        let body = #"{"client_id":"c","person":{"email":"New@example.com","given_name":"New"}}"#
        for provider in ["apple", "google"] { _ = try await simulation.signIn(provider, body) }
        let (_, answer) = try await simulation.send(.get, "/control/people")
        let emails = try #require(answer["people"]?.array).compactMap { $0.object?["email"]?.string }
        #expect(emails.filter { $0 == "New@example.com" }.count == 1 && emails.count == Cast.people.count + 1)
    }

    @Test func `The clients are there in the order of their registration`() async throws {
        let simulation = try Simulation()
        for name in ["b", "a"] {
            let client = #"{"client_id":"\#(name)","client_secret":"s"}"#
            #expect(try await simulation.send(.post, "/control/google/clients", client).0.status == .ok)
        }
        let (_, answer) = try await simulation.send(.get, "/control/people")
        #expect(answer["clients"]?.object?["google"] == ["b", "a"] && answer["clients"]?.object?["apple"] == [])
    }

    @Test func `Pages of other origins may call it only if they are configured`() async throws {
        let simulation = try Simulation()
        let own = "http://127.0.0.1:8080"
        for (origins, origin, allowed) in [([own], own, own), ([own], "http://evil.example", nil), ([], own, nil)] {
            let crossOrigin = origins.isEmpty ? nil : CrossOrigin(origins: origins, requestFields: ["content-type"])
            let handler = Simulator.handler(simulation.store, crossOrigin: crossOrigin, logger: Logger(label: "test"))
            let answer = try await HandlerClient(handler).send(.get, "/control/people", headers: [.origin: origin])
            #expect(answer.status == .ok && answer.headers[.accessControlAllowOrigin] == allowed)
        }
    }

    @Test func `The page has a form for each control, and names nothing that a shell would run`() async throws {
        let html = HomePage.response(authority: "$(id)", people: ["people": [], "clients": [:]]).body
        let text = String(decoding: html.bytes, as: UTF8.self)
        let controls = [
            "/control/{provider}/sign-in", "/control/misbehave", "/control/keys/rotate", "/control/counts",
            "/control/counts/reset",
            "/control/apple/notify", "/control/google/risc", "/control/apple/transfer", "/control/people",
        ]
        #expect(text.matches(of: /data-path="([^"]*)"/).map { String($0.1) } == controls)
        #expect(!text.contains("$(id)") && text.contains("http://127.0.0.1:7080/control/misbehave"))
    }
}
