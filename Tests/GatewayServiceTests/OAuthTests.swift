import API
import APIDoubles
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The routes for services that accept our tokens: metadata (RFC 8414) and introspection (RFC 7662).
struct OAuthTests {
    private static let secret = "6f1d…%+& of 32 random bytes"

    private static func clients(_ more: String = "") throws -> IntrospectionClients {
        let digest = Hex.encode(SHA256.hash(secret))
        return try IntrospectionClients(Secret("# services of ours\n\norders:\(digest)\r\n\(more)"))
    }

    /// Id and secret in the form of RFC 6749 section 2.3.1.
    private static func basic(_ id: String, _ secret: String, scheme: String = "Basic") -> String {
        "\(scheme) \(Self.base64("\(FormFieldsEncoding.encode(id)):\(FormFieldsEncoding.encode(secret))"))"
    }

    private static func base64(_ text: String) -> String {
        let encoded = Base64URL.encode(Array(text.utf8)).replacing("-", with: "+").replacing("_", with: "/")
        return encoded + String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
    }

    private func ask(
        _ gateway: TestGateway,
        _ form: String,
        authorization: String? = basic("orders", secret),
        type: String = "application/x-www-form-urlencoded"
    ) async throws -> (status: Int, headers: HTTPFields, body: JSONObject) {
        var headers: HTTPFields = [.contentType: type]
        headers[.authorization] = authorization
        let response = try await HandlerClient(gateway.handler, address: "in-process")
            .send(.post, "/auth/introspect", headers: headers, body: Array(form.utf8))
        return (response.status.code, response.headers, try JSONObject(parsing: response.body))
    }

    private func gateway(_ answer: IdentityV1.IntrospectTokenResponse = .init()) throws -> TestGateway {
        let gateway = TestGateway(introspectionClients: try Self.clients())
        gateway.stubs.identity.set { answers in answers.introspectToken = { _, _ in answer } }
        return gateway
    }

    private static let active = IdentityV1.IntrospectTokenResponse.with {
        ($0.active, $0.use, $0.userID, $0.sessionID) = (true, .access, "u", "s")
        ($0.clientID, $0.issuer, $0.audience, $0.expiresAtSeconds) = ("c", "i", "a", 7)
    }

    @Test func `An active token's introspection has its claims`() async throws {
        let answer = try await ask(gateway(Self.active), "token=t&token_type_hint=refresh_token")
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "active": true, "token_use": "access_token", "sub": "u", "sid": "s", "client_id": "c", "iss": "i",
                "exp": 7, "token_type": "Bearer", "aud": "a",
            ]
        )
        #expect(answer.headers[.cacheControl] == "no-store")
        var refresh = Self.active
        (refresh.use, refresh.audience) = (.refresh, "")
        let other = try await ask(gateway(refresh), "token=t").body
        #expect(other["token_use"] == "refresh_token" && other["token_type"] == nil && other["aud"] == nil)
    }

    @Test func `An inactive token's introspection has nothing else`() async throws {
        var strange = Self.active
        strange.active = false
        for answer in [strange, .init()] {
            #expect(try await ask(gateway(answer), "token=t").body == ["active": false])
        }
    }

    @Test(arguments: [
        nil, "", "Basic", "Basic ", "Basic ====", "Bearer \(StubServices.accessToken)",
        basic("orders", "wrong"), basic("other", secret), basic("", ""), basic("orders", ""),
        basic("orders", secret, scheme: "Digest"), "Basic \(base64("orders"))", "Basic \(base64("orders:%zz"))",
        "Basic " + String(repeating: "A", count: 5_000),
    ])
    func `Without a client's credentials no token is looked up`(authorization: String?) async throws {
        let gateway = try gateway(Self.active)
        let answer = try await ask(gateway, "token=t", authorization: authorization)
        #expect(answer.status == 401)
        #expect(answer.body["error"] == "invalid_client" && answer.body["code"] == "CLIENT_INVALID")
        #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `The scheme's case doesn't matter`() async throws {
        let authorization = Self.basic("orders", Self.secret, scheme: "bAsIc")
        #expect(try await ask(gateway(Self.active), "token=t", authorization: authorization).status == 200)
    }

    @Test func `An invalid request has OAuth's error`() async throws {
        let gateway = try gateway()
        for form in ["", "token=", "tokens=t", "token=a&token=b"] {
            let answer = try await ask(gateway, form)
            #expect(answer.status == 400 && answer.body["error"] == "invalid_request", "\(form)")
        }
        let json = try await ask(gateway, #"{"token":"t"}"#, type: "application/json")
        #expect(json.status == 415 && json.body["error"] == "invalid_request")
        gateway.stubs.identity.set { answers in
            answers.introspectToken = { _, _ in throw RPCError(.unavailable, "down") }
        }
        let down = try await ask(gateway, "token=t")
        #expect(down.status == 503 && down.body["error"] == "temporarily_unavailable")
        #expect(down.headers[.retryAfter] == "1")
    }

    @Test func `Without configured clients every request is refused with a separate code`() async throws {
        let gateway = TestGateway()
        for (form, authorization) in [("token=t", Self.basic("orders", Self.secret)), ("token=t", nil), ("", nil)] {
            let answer = try await ask(gateway, form, authorization: authorization)
            #expect(answer.status == 404 && answer.body["code"] == "INTROSPECTION_NOT_CONFIGURED")
            #expect(answer.body["error"] == "invalid_request")
        }
        let json = try await ask(gateway, "{}", type: "application/json")
        #expect(json.body["code"] == "INTROSPECTION_NOT_CONFIGURED", "and not what a provider's path would say")
        #expect(gateway.stubs.calls.isEmpty)
        let metadata = try await gateway.send(.get, "/.well-known/oauth-authorization-server")
        #expect(metadata.body["introspection_endpoint"] == nil)
    }

    @Test func `Guesses are limited by address`() async throws {
        var policy = RateLimit.Policy()
        policy.auth = RequestRate(perSecond: 0.001, burst: 3)
        let gateway = TestGateway(rateLimit: policy, introspectionClients: try Self.clients())
        var statuses: [Int] = []
        let handler = gateway.handler
        for _ in 0..<4 {
            let client = HandlerClient(handler, address: "203.0.113.7:4000")
            let headers: HTTPFields = [
                .contentType: "application/x-www-form-urlencoded", .authorization: Self.basic("orders", "guess"),
            ]
            statuses.append(
                try await client.send(.post, "/auth/introspect", headers: headers, body: Array("token=t".utf8)).status
                    .code
            )
        }
        #expect(statuses == [401, 401, 401, 429])
    }

    @Test(arguments: [
        ("orders", "line 1"), ("orders:abc", "line 1"), ("a b:\(String(repeating: "0", count: 64))", "line 1"),
        ("# nobody\n", "1 to 64 clients"),
        ("a:\(String(repeating: "0", count: 64))\na:\(String(repeating: "1", count: 64))", "line 2"),
    ])
    func `A clients file that can't be used is reported with its line`(content: String, problem: String) {
        let faults = #expect(throws: ConfigurationErrors.self) { try IntrospectionClients(Secret(content)) }
        #expect(faults?.description.contains(problem) == true, "\(faults as Any)")
    }

    // The metadata

    @Test func `The metadata is correct and can be cached`() async throws {
        let gateway = TestGateway(introspectionClients: try Self.clients())
        let answer = try await gateway.send(.get, "/.well-known/oauth-authorization-server")
        #expect(answer.status == 200 && answer.type == "application/json")
        #expect(
            answer.body == [
                "issuer": "https://api.example.com",
                "jwks_uri": "https://api.example.com/.well-known/jwks.json",
                "response_types_supported": [], "grant_types_supported": [],
                "introspection_endpoint": "https://api.example.com/auth/introspect",
                "introspection_endpoint_auth_methods_supported": ["client_secret_basic"],
            ]
        )
        #expect(answer.headers[.cacheControl] == "public, max-age=600")
        _ = try await gateway.send(.get, "/.well-known/jwks.json")
        #expect(gateway.stubs.calls == ["GetJWKS"], "one answer of identity's is both")
        // Every URL in it has a route.
        let paths = gateway.gateway.endpoints.map(\.operation.path)
        #expect(paths.contains("/.well-known/jwks.json") && paths.contains("/auth/introspect"))
        #expect(try await gateway.send(.get, "/.well-known/openid-configuration").status == 404)
    }

    @Test func `An issuer with a trailing slash is unchanged`() {
        let metadata = ServerMetadata(hasIntrospection: false, pages: nil)
            .json(issuer: "https://api.example.com/id/", keySet: #"{"keys":[]}"#)
        #expect(metadata["issuer"] == "https://api.example.com/id/")
        #expect(metadata["jwks_uri"] == "https://api.example.com/id/.well-known/jwks.json")
    }
}

/// Encodes the value of a form's field.
private enum FormFieldsEncoding {
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = Character(UnicodeScalar(byte)).isLetter && byte < 128
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
        }.joined()
    }
}
