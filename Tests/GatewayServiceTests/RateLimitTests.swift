import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The limits of an address and of an account.
struct RateLimitTests {
    private static let refresh = #"{"refresh_token":"r"}"#

    /// A policy with the given limits only, which never refill during a test.
    private static func policy(
        address: Double = 1e6,
        auth: Double = 1e6,
        account: Double = 1e6,
        changes: Double = 1e6,
        proxies: [String] = []
    ) -> RateLimit.Policy {
        func rate(_ burst: Double) -> RequestRate { RequestRate(perSecond: 0.0001, burst: burst) }
        return RateLimit.Policy(
            address: rate(address),
            auth: rate(auth),
            account: rate(account),
            changes: rate(changes),
            trustedProxies: proxies.compactMap(IPNetwork.init)
        )
    }

    @Test func `Too many sign-ins are rejected with a wait`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(auth: 2))
        for _ in 0..<2 {
            #expect(try await gateway.send(.post, "/auth/refresh", Self.refresh).status == 200)
        }
        let limited = try await gateway.send(.post, "/auth/refresh", Self.refresh)
        #expect(limited.status == 429)
        #expect(limited.code == "RATE_LIMITED")
        #expect(limited.type == "application/problem+json")
        let wait = try #require(limited.headers[.retryAfter].flatMap(Int.init))
        // 10,000 s for a token, less the time that the test has taken so far.
        #expect((9_000...10_000).contains(wait))
        #expect(try await gateway.send(.post, "/auth/apple", "{}").status == 429)
        #expect(try await gateway.sendAsUser(.get, "/me").status == 200)
    }

    @Test(arguments: [
        "//auth/refresh", "/auth//refresh", "/auth/refresh/", "///auth///refresh//", "/./auth/refresh",
        "/auth/./refresh", "/me/../auth/refresh", "/auth%2frefresh", "/%61uth/refresh", "/auth/%2e/refresh",
        "http://x/auth/refresh/", "/auth/refresh//?a=b",
    ])
    func `Another spelling of a path doesn't avoid a limit`(path: String) async throws {
        let gateway = TestGateway(rateLimit: Self.policy(auth: 1))
        #expect(try await gateway.send(.post, "/auth/refresh", Self.refresh).status == 200)
        #expect(try await gateway.send(.post, "/auth/refresh", Self.refresh).status == 429)
        let other = try await gateway.send(.post, path, Self.refresh)
        #expect(other.status == 404 || other.status == 429)
        #expect(gateway.stubs.calls.filter { $0 == "Refresh" }.count == 1)
    }

    @Test(arguments: ["//me", "/me/", "/./me", "/x/../me", "/%2e/me", "/groups//x/members", "/groups/a%2fb/members"])
    func `A path that isn't normalized has no route`(path: String) async throws {
        let gateway = TestGateway()
        let answer = try await gateway.sendAsUser(.get, path)
        #expect(answer.status == 404)
        #expect(answer.code == "ROUTE_NOT_FOUND")
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Every route counts for its address's limit`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(address: 6))
        for path in ["/healthz", "/readyz", "/openapi.json", "/.well-known/jwks.json", "/nothing"] {
            #expect(try await gateway.send(.get, path).status < 429)
        }
        #expect(try await gateway.sendAsUser(.get, "/me").status == 200)
        for path in ["/healthz", "/readyz", "/openapi.json", "/nothing", "//x"] {
            let limited = try await gateway.send(.get, path)
            #expect(limited.status == 429)
            #expect(limited.code == "RATE_LIMITED")
            #expect(limited.headers[.retryAfter] != nil)
        }
        let calls = gateway.stubs.calls.count
        #expect(try await gateway.sendAsUser(.get, "/me").status == 429)
        #expect(gateway.stubs.calls.count == calls)
    }

    @Test func `One account does not slow another`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(account: 3))
        let user = Mutex("a")
        gateway.stubs.identity.set { answers in
            answers.checkSession = { _, _ in
                .with {
                    $0.userID = user.withLock { $0 }
                    $0.callerProofs = StubServices.proofs
                }
            }
        }
        for _ in 0..<3 { #expect(try await gateway.sendAsUser(.get, "/me").status == 200) }
        let limited = try await gateway.sendAsUser(.get, "/groups")
        #expect(limited.status == 429)
        #expect(limited.code == "RATE_LIMITED")
        let wait = try #require(limited.headers[.retryAfter].flatMap(Int.init))
        #expect((9_000...10_000).contains(wait))
        user.withLock { $0 = "b" }
        #expect(try await gateway.sendAsUser(.get, "/me").status == 200)
    }

    @Test func `Changes have a lower limit than reads`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(changes: 2))
        let member = #"{"phone_number":"+639170000000","display_name":"Ana"}"#
        #expect(try await gateway.sendAsUser(.patch, "/me", #"{"username":"ana"}"#).status == 200)
        #expect(try await gateway.sendAsUser(.post, "/groups/g/members", member).status == 201)
        #expect(try await gateway.sendAsUser(.patch, "/me", #"{"username":"bea"}"#).status == 429)
        #expect(try await gateway.sendAsUser(.post, "/groups", #"{"name":"Trip"}"#).status == 429)
        #expect(try await gateway.sendAsUser(.post, "/groups/g/members", member).status == 429)
        for path in ["/me", "/groups", "/groups/g/members"] {
            #expect(try await gateway.sendAsUser(.get, path).status == 200)
            #expect(try await gateway.send(.head, path, token: StubServices.accessToken).status == 200)
        }
        #expect(gateway.stubs.calls.filter { ["UpdateProfile", "AddMember", "CreateGroup"].contains($0) }.count == 2)
    }

    @Test func `A refused token uses up no account's limit`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(account: 1))
        for _ in 0..<5 { #expect(try await gateway.send(.get, "/me", token: "bad").status == 401) }
        #expect(try await gateway.sendAsUser(.get, "/me").status == 200)
    }

    @Test(arguments: [true, false])
    func `One address does not slow another`(isTrusted: Bool) async throws {
        let gateway = TestGateway(rateLimit: Self.policy(auth: 1, proxies: isTrusted ? ["127.0.0.0/8"] : []))
        func status(_ address: String) async throws -> Int {
            try await gateway.send(
                .post,
                "/auth/refresh",
                Self.refresh,
                headers: [.forwardedFor: address],
                from: "127.0.0.1:4711"
            ).status
        }
        #expect(try await status("192.0.2.1") == 200)
        #expect(try await status("192.0.2.1:4711") == 429)
        #expect(try await status("192.0.2.2") == (isTrusted ? 200 : 429))
        #expect(try await status("2001:db8::1") == (isTrusted ? 200 : 429))
        #expect(try await status("[2001:db8::2]:80") == 429)
    }

    @Test func `A site's networks don't count as many clients`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(auth: 1, proxies: ["127.0.0.1"]))
        var statuses: [Int] = []
        for network in 0..<20 {
            let answer = try await gateway.send(
                .post,
                "/auth/refresh",
                Self.refresh,
                headers: [.forwardedFor: "2001:db8:7:\(network)::1"],
                from: "127.0.0.1:4711"
            )
            statuses.append(answer.status)
        }
        #expect(statuses == Array(repeating: 200, count: 16) + Array(repeating: 429, count: 4))
    }

    @Test func `The services get the client's address`() async throws {
        let gateway = TestGateway(rateLimit: Self.policy(proxies: ["127.0.0.1"]))
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String?, from address: String?) async throws {
            var headers: HTTPFields = [:]
            if let address { headers[.forwardedFor] = address }
            // The header is removed when a client sends it.
            headers[try #require(HTTPField.Name("vestibule-client-address"))] = "6.6.6.6"
            _ = try await gateway.send(
                method,
                path,
                body,
                token: StubServices.accessToken,
                headers: headers,
                from: "127.0.0.1:4711"
            )
        }
        try await send(.patch, "/me", #"{"username":"ana"}"#, from: "192.0.2.1")
        try await send(.patch, "/me", #"{"username":"ana"}"#, from: "2001:db8:0:1:2:3:4:5")
        let member = #"{"phone_number":"+639170000000","display_name":"Ana"}"#
        try await send(.post, "/groups/g/members", member, from: nil)
        try await send(.get, "/groups", nil, from: nil)
        try await send(.post, "/auth/identities/google", #"{"id_token":"t"}"#, from: "192.0.2.1")
        try await send(.get, "/me", nil, from: "192.0.2.1")
        #expect(
            gateway.stubs.clientAddresses == [
                "CheckSession", "UpdateProfile 192.0.2.1", "CheckSession", "UpdateProfile 2001:db8:0:1::",
                "CheckSession", "AddMember 127.0.0.1", "CheckSession", "ListGroups",
                "LinkProvider 192.0.2.1", "CheckSession", "GetProfile",
            ]
        )
    }
}
