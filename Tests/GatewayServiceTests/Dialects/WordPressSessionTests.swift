import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// The book readers' token and its uses, and the form of errors under `/wp-json`.
struct WordPressSessionTests {
    private static let me = "/wp-json/wp/v2/users/me"

    @Test func `The token identifies its user`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let asked = Asked<IdentityV1.CheckSessionRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.checkSession
            answers.checkSession = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let nonce = try #require(HTTPField.Name("X-WP-Nonce"))
        let answer = try await gateway.send(
            .get,
            Self.me,
            token: StubServices.accessToken,
            headers: [nonce: "whatever it is"]
        )
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "id": 4711, "name": "Maria", "slug": "maria_1", "username": "Maria_1", "email": "maria@example.com",
                "email_verified": true,
            ]
        )
        #expect(asked.all.map(\.dialect) == ["wordpress"])
        #expect(try await gateway.sendAsUser(.get, "/me").status == 200)
        #expect(asked.all.map(\.dialect) == ["wordpress", ""], "elsewhere a session without proof is no good")
    }

    @Test func `The registered address is returned, not the provider's`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        gateway.stubs.identity.set {
            $0.getAccount = { _, _ in
                .with {
                    $0.account = Maria.account
                    $0.account.metadataJson = #"{"wordpress_email":"own@example.com"}"#
                }
            }
        }
        let login = try await gateway.send(.post, WordPressTests.loginPath, WordPressTests.login)
        #expect(login.body["email"] == "own@example.com")
        let me = try await gateway.sendAsUser(.get, Self.me)
        #expect(me.body["email"] == "own@example.com")
        #expect(me.body["email_verified"] == false, "only the user gave it")
    }

    @Test func `A nonce alone is not a credential`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let nonce = try #require(HTTPField.Name("X-WP-Nonce"))
        let answer = try await gateway.send(.get, Self.me, headers: [nonce: StubServices.accessToken])
        #expect(answer.status == 401)
        #expect(
            answer.body == [
                "code": "rest_not_logged_in", "message": "You are not currently logged in.", "data": ["status": 401],
            ]
        )
        let refused = try await gateway.send(.get, Self.me, token: "bad")
        #expect(refused.status == 401 && refused.code == "invalid_token")
    }

    @Test func `Logging out ends the session`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let answer = try await gateway.send(.post, "/wp-json/gread/v1/auth/logout", token: Maria.singleToken)
        #expect(answer.status == 200)
        #expect(answer.body == ["success": true, "message": "Logout successful"])
        #expect(gateway.stubs.calls == ["SignOut"])
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/wp-json/nowhere", 404, "rest_no_route"),
        (.get, "/wp-json", 404, "rest_no_route"), (.get, "/wp-json/a/../b", 404, "rest_no_route"),
        (.get, WordPressTests.loginPath, 405, "rest_no_route"),
    ])
    func `An unknown path has WordPress's error`(
        method: HTTPRequest.Method,
        path: String,
        status: Int,
        code: String
    ) async throws {
        let answer = try await TestGateway.speaking(.wordpress).send(method, path)
        #expect(answer.status == status)
        #expect(answer.type == "application/json")
        #expect(
            answer.body == [
                "code": .string(code), "message": "No route was found matching the URL and request method.",
                "data": ["status": .integer(Int64(status))],
            ]
        )
    }

    @Test func `An invalid body has WordPress's error`() async throws {
        let gateway = TestGateway.speaking(.wordpress)
        let path = WordPressTests.loginPath
        let malformed = try await gateway.send(.post, path, "{")
        #expect(malformed.status == 400 && malformed.code == "rest_invalid_json")
        let large = try await gateway.send(.post, path, #"{"a":"\#(String(repeating: "x", count: 70_000))"}"#)
        #expect(large.status == 413 && large.code == "body_too_large")
        #expect(large.body["data"] == ["status": 413])
        let token = #"{"appleUserID":"a","identityToken":{"x":1}}"#
        let wrong = try await gateway.send(.post, path, token)
        #expect(wrong.status == 400 && wrong.code == "invalid_request")
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        (Problem(.internalServerError, code: "INTERNAL", detail: "d"), 500, "internal_server_error"),
        (Problem(.tooManyRequests, code: "RATE_LIMITED", detail: "d"), 429, "rate_limited"),
        (Problem(.serviceUnavailable, code: "PROVIDER_UNAVAILABLE", detail: "d"), 503, "provider_unavailable"),
        (Problem(.unprocessableContent, code: "FIELDS_INVALID", detail: "d"), 400, "invalid_request"),
    ])
    func `Other problems have their code in lowercase`(problem: Problem, status: Int, code: String) {
        let error = WordPressError(problem)
        #expect(error.status.code == status && error.code == code && error.message == "d")
    }
}
