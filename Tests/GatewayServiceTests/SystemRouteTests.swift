import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Health, keys, the description, and the limits of every route.
struct SystemRouteTests {
    @Test func `Liveness needs no service`() async throws {
        let gateway = TestGateway()
        let answer = try await gateway.send(.get, "/healthz")
        #expect(answer.status == 200)
        #expect(answer.body == ["status": "ok"])
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Readiness needs every service`() async throws {
        let gateway = TestGateway()
        let ready = try await gateway.send(.get, "/readyz")
        #expect(ready.status == 200)
        #expect(ready.body == ["status": "ready", "services": ["identity": "ok", "profile": "ok", "invites": "ok"]])
        // A new gateway, since the answer is cached for a moment.
        let lacking = TestGateway()
        lacking.stubs.stopServing(ProfileServiceMethods.serviceName)
        let unready = try await lacking.send(.get, "/readyz")
        #expect(unready.status == 503)
        #expect(
            unready.body == [
                "status": "not ready", "services": ["identity": "ok", "profile": "failed", "invites": "ok"],
            ]
        )
    }

    @Test func `The services' health is cached for a moment`() async throws {
        let stubs = StubServices()
        let channel = stubs.channel
        let backends = Backends(identity: channel, profile: channel, invites: channel)
        let start = ContinuousClock.now
        let passed = Atomic<Int>(0)
        let cache = ReadinessCache(
            backends.probes,
            now: { start.advanced(by: .milliseconds(passed.load(ordering: .relaxed))) }
        )
        let options = CallOptions(timeout: .seconds(60))
        let answered = await withTaskGroup(of: [Bool].self) { group in
            for _ in 0..<50 { group.addTask { await cache.answers(options).map(\.isServing) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answered == Array(repeating: [true, true, true], count: 50))
        #expect(stubs.calls.count == 3)
        stubs.stopServing(InvitesServiceMethods.serviceName)
        #expect(await cache.answers(options).map(\.isServing) == [true, true, true], "the cache has not expired")
        passed.store(250, ordering: .relaxed)
        #expect(await cache.answers(options).map(\.isServing) == [true, true, false])
        #expect(stubs.calls.count == 6)
    }

    @Test func `Keys may be cached`() async throws {
        let gateway = TestGateway()
        let answer = try await gateway.send(.get, "/.well-known/jwks.json")
        #expect(answer.status == 200)
        #expect(answer.type == "application/json")
        #expect(answer.body == ["keys": []])
        #expect(answer.headers[.cacheControl] == "public, max-age=600")
    }

    @Test func `The description names exactly the routes`() async throws {
        let gateway = TestGateway()
        let document = try await gateway.send(.get, "/openapi.json")
        #expect(document.status == 200)
        #expect(document.body["openapi"] == "3.1.1")
        let paths = try #require(document.body["paths"]?.object)
        let methods: Set = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        let described = paths.members.flatMap { path in
            (path.value.object?.members ?? []).map(\.name).filter(methods.contains).map { "\($0) \(path.name)" }
        }
        // Introspection is not configured here, so it is no operation, though its path isn't a provider's.
        let routes = gateway.gateway.endpoints.map(\.route).filter { $0.path != IntrospectTokenRoute.path }
        let existing = routes.map { "\($0.method.rawValue.lowercased()) \($0.path)" }
        #expect(described.sorted() == existing.sorted())
    }

    @Test func `Every answer's status is described`() async throws {
        let document = OpenAPI.document(of: TestGateway().gateway.endpoints.map(\.operation))
        var operations = 0
        for path in try #require(document["paths"]?.object).members {
            for method in path.value.object?.members ?? [] where method.name != "parameters" {
                operations += 1
                let statuses = Set(method.value.object?["responses"]?.object?.members.map(\.name) ?? [])
                #expect(statuses.isSuperset(of: ["400", "429", "431", "500", "501"]), "\(method.name) \(path.name)")
                #expect(!statuses.contains("default"))
                let takesBody = method.value.object?["requestBody"] != nil
                #expect(statuses.isSuperset(of: ["408", "413", "415"]) == takesBody, "\(method.name) \(path.name)")
                // Requests to these carry no credentials of a caller, so they don't return 401.
                let isForAll = [
                    "/auth/challenge", "/auth/guest", "/auth/guest/challenge", "/auth/passkey/challenge",
                    "/auth/apple/notifications", "/auth/google/risc",
                ].contains(path.name)
                let isAuth = path.name.hasPrefix("/auth/") && !isForAll
                let needsUser = method.value.object?["security"] != nil || isAuth
                #expect(statuses.contains("401") == needsUser, "\(method.name) \(path.name)")
            }
        }
        #expect(operations == TestGateway().gateway.endpoints.count)
    }

    @Test func `Every variable of a path is described`() {
        for operation in TestGateway().gateway.endpoints.map(\.operation) {
            let described = operation.parameters.filter { $0.place == .path }.map(\.name)
            let variables = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                $0.dropFirst().dropLast()
            }
            #expect(described == variables.map(String.init), "\(operation.path)")
        }
    }

    @Test func `Every operation has a unique name`() {
        let names = TestGateway().gateway.endpoints.map(\.operation.id)
        #expect(Set(names).count == names.count)
    }

    @Test func `Every reference in the description resolves`() throws {
        let document = JSONValue.object(OpenAPI.document(of: TestGateway().gateway.endpoints.map(\.operation)))
        var references: Set<String> = []
        func collect(_ value: JSONValue) {
            value.array?.forEach(collect)
            for member in value.object?.members ?? [] {
                if member.name == "$ref", let text = member.value.string { references.insert(text) }
                collect(member.value)
            }
        }
        collect(document)
        #expect(references.count > 20)
        for reference in references {
            let target = reference.split(separator: "/").dropFirst().reduce(Optional(document)) { value, name in
                value?.object?[String(name)]
            }
            #expect(target != nil, "\(reference)")
        }
        let components = try #require(document.object?["components"]?.object)
        for section in components.members where section.name != "securitySchemes" {
            for entry in section.value.object?.members ?? [] {
                #expect(references.contains("#/components/\(section.name)/\(entry.name)"))
            }
        }
    }

    @Test func `The deadline is passed on with the call`() async throws {
        var gateway = TestGateway()
        gateway.limits.requestTimeout = .seconds(3)
        let before = Deadline.after(.seconds(3))
        _ = try await gateway.sendAsUser(.get, "/me")
        let after = Deadline.after(.seconds(3))
        let deadlines = gateway.stubs.deadlines
        #expect(deadlines.count == 2)
        #expect(Set(deadlines).count == 1)
        let deadline = try #require(deadlines[0])
        #expect(before <= deadline && deadline <= after)
    }

    @Test func `A call to a slow service ends at the deadline`() async throws {
        var gateway = TestGateway()
        gateway.limits.requestTimeout = .milliseconds(100)
        gateway.stubs.profile.set {
            $0.getProfile = { _, _ in
                // Far longer than the test may take: only the deadline can end it.
                try await Task.sleep(for: .seconds(3600))
                return .init()
            }
        }
        let answer = try await gateway.sendAsUser(.get, "/me")
        #expect(answer.status == 504)
        #expect(answer.code == "DEADLINE_EXCEEDED")
    }

    @Test func `A service that is down is answered with 503`() async throws {
        let gateway = TestGateway()
        gateway.stubs.profile.set {
            $0.getProfile = { _, _ in
                throw RPCError.domain(.unavailable, reason: "DATABASE_UNAVAILABLE", message: "no database")
            }
        }
        let answer = try await gateway.sendAsUser(.get, "/me")
        #expect(answer.status == 503)
        #expect(answer.code == "DATABASE_UNAVAILABLE")
        #expect(answer.headers[.retryAfter] == "1")
    }

    @Test func `A body that is too large is refused`() async throws {
        let body = #"{"refresh_token":""# + String(repeating: "a", count: 65_536) + #""}"#
        let answer = try await TestGateway().send(.post, "/auth/refresh", body)
        #expect(answer.status == 413)
        #expect(answer.code == "BODY_TOO_LARGE")
    }

    @Test func `An unknown path and an unsupported method are problems`() async throws {
        #expect(try await TestGateway().send(.get, "/nowhere").code == "ROUTE_NOT_FOUND")
        let answer = try await TestGateway().send(.put, "/me")
        #expect(answer.status == 405)
        #expect(answer.headers[.allow] == "DELETE, GET, HEAD, PATCH")
    }
}
