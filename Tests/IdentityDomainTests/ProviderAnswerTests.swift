import IdentityDomain
import JOSE
import Testing

/// What providers answer to questions about codes and access tokens.
struct ProviderAnswerTests {
    @Test(arguments: [
        (
            200, #"{"id_token":"a.b.c","refresh_token":"r"}"#,
            TokenEndpointAnswer.exchanged(ExchangedTokens(idToken: "a.b.c", refreshToken: "r"))
        ),
        (200, #"{"access_token":"a"}"#, .unreadable), (200, #"{"id_token":""}"#, .unreadable), (200, "", .unreadable),
        (200, #"{"id_token":"a","id_token":"b"}"#, .unreadable), (200, #"["id_token"]"#, .unreadable),
        (204, "", .unreadable), (302, "", .unreadable), (100, "", .unreadable),
        (400, #"{"error":"invalid_grant"}"#, .refused(error: "invalid_grant")),
        (401, #"{"error":"invalid_grant"}"#, .refused(error: "invalid_grant")),
        (400, #"{"error":"redirect_uri_mismatch"}"#, .refused(error: "redirect_uri_mismatch")),
        (400, #"{"error":"invalid_request"}"#, .refused(error: "invalid_request")),
        (400, #"{"error":"invalid_client"}"#, .notConfigured(error: "invalid_client")),
        (401, #"{"error":"invalid_client"}"#, .notConfigured(error: "invalid_client")),
        (400, #"{"error":"unauthorized_client"}"#, .notConfigured(error: "unauthorized_client")),
        (404, "<html>", .notConfigured(error: "status 404")),
        (400, #"{"error":"A Person"}"#, .notConfigured(error: "status 400")),
        (408, "", .unavailable), (429, #"{"error":"invalid_grant"}"#, .unavailable), (500, "", .unavailable),
        (503, #"{"id_token":"a.b.c"}"#, .unavailable),
    ])
    func `Token endpoints`(status: Int, body: String, answer: TokenEndpointAnswer) {
        #expect(TokenEndpointAnswer(status: status, body: Array(body.utf8)) == answer)
    }

    @Test func `A refresh token that can't be one is none, and both tokens survive being kept`() {
        for (token, kept) in [
            ("r0t.0.abc", "r0t.0.abc"), ("", nil), ("two\nlines", nil), ("a space", nil), ("\u{e4}", nil),
            (String(repeating: "r", count: 4_096), String(repeating: "r", count: 4_096)),
            (String(repeating: "r", count: 4_097), nil),
        ] as [(String, String?)] {
            let tokens = ExchangedTokens(idToken: "a.b.c", refreshToken: token)
            #expect(tokens.refreshToken == kept)
            #expect(ExchangedTokens(parsing: tokens.bytes) == tokens)
        }
        #expect(ExchangedTokens(parsing: Array("a.b.c".utf8)) == ExchangedTokens(idToken: "a.b.c", refreshToken: nil))
    }

    @Test(arguments: [
        (200, #"{"access_token":"a","id_token":"a.b.c"}"#, GrantCheckAnswer.good), (200, "<html>", .unavailable),
        (400, #"{"error":"invalid_grant"}"#, .refused), (401, #"{"error":"invalid_grant"}"#, .refused),
        (403, #"{"error":"invalid_grant"}"#, .notConfigured(error: "status 403")),
        (404, #"{"error":"invalid_grant"}"#, .notConfigured(error: "status 404")),
        (500, #"{"error":"invalid_grant"}"#, .unavailable), (429, #"{"error":"invalid_grant"}"#, .unavailable),
        (408, "", .unavailable), (425, "", .unavailable), (302, "", .unavailable), (204, "", .unavailable),
        (400, #"{"error":"invalid_client"}"#, .notConfigured(error: "invalid_client")),
        (401, #"{"error":"invalid_client"}"#, .notConfigured(error: "invalid_client")),
        (400, #"{"error":"invalid_request"}"#, .notConfigured(error: "invalid_request")),
        (400, #"{"error":"A Person"}"#, .notConfigured(error: "status 400")),
        (400, "", .notConfigured(error: "status 400")),
    ])
    func `Checks of refresh tokens`(status: Int, body: String, answer: GrantCheckAnswer) {
        #expect(GrantCheckAnswer(status: status, body: Array(body.utf8)) == answer)
    }

    @Test(arguments: [
        (200, "", RevocationAnswer.revoked), (204, "", .revoked), (400, #"{"error":"invalid_token"}"#, .revoked),
        (400, #"{"error":"invalid_grant"}"#, .revoked),
        (400, #"{"error":"invalid_client"}"#, .notConfigured(error: "invalid_client")),
        (400, #"{"error":"invalid_request"}"#, .notConfigured(error: "invalid_request")),
        (404, "", .notConfigured(error: "status 404")), (429, "", .unavailable), (503, "", .unavailable),
        (302, "", .unavailable),
    ])
    func `Answers to revocations`(status: Int, body: String, answer: RevocationAnswer) {
        #expect(RevocationAnswer(status: status, body: Array(body.utf8)) == answer)
    }

    private static let audience = AudiencePolicy(id: "42", match: .sha256)
    private static let now: Int64 = 1_800_000_000

    @Test(arguments: [
        (200, #"{"data":{"app_id":"42","type":"USER","is_valid":true,"expires_at":1800000001,"user_id":7}}"#, nil),
        (200, #"{"data":{"app_id":42,"is_valid":true,"user_id":7}}"#, nil),
        (200, #"{"data":{"app_id":"43","is_valid":true,"user_id":"7"}}"#, AccessTokenRefusal.foreign),
        (200, #"{"data":{"app_id":"43","is_valid":false,"user_id":"7"}}"#, .foreign),
        (200, #"{"data":{"is_valid":false,"error":{"code":190},"scopes":[]}}"#, .invalid),
        (200, #"{"data":{"app_id":"42","is_valid":false}}"#, .invalid),
        (200, #"{"data":{"app_id":"42","is_valid":"true","user_id":"7"}}"#, .invalid),
        (200, #"{"data":{"app_id":"42","type":"PAGE","is_valid":true,"user_id":"7"}}"#, .invalid),
        (200, #"{"data":{"app_id":"42","is_valid":true,"expires_at":1800000000,"user_id":"7"}}"#, .invalid),
        (200, #"{"data":{"is_valid":true,"user_id":"7"}}"#, .unreadable),
        (200, #"{"data":{"app_id":"42","is_valid":true}}"#, .unreadable), (200, "{}", .unreadable),
        (200, "", .unreadable),
        (400, #"{"error":{"code":100,"type":"OAuthException"}}"#, .foreign),
        (400, #"{"error":{"code":190,"type":"OAuthException"}}"#, .notConfigured(error: "error 190")),
        (400, #"{"error":{"code":4}}"#, .unavailable), (400, "", .notConfigured(error: "status 400")),
        (500, "", .unavailable), (429, "", .unavailable), (302, "", .unreadable),
    ])
    func `Facebook's debug_token`(status: Int, body: String, refusal: AccessTokenRefusal?) {
        Self.expect(refusal, "7") { () throws(AccessTokenRefusal) in
            try FacebookAnswers.userID(status: status, body: Array(body.utf8), appID: "42", nowSeconds: Self.now)
        }
    }

    @Test(arguments: [
        (200, #"{"id":"7","name":"A Person"}"#, nil), (200, #"{"id":"8"}"#, AccessTokenRefusal.foreign),
        (200, "{}", .unreadable), (400, #"{"error":{"code":190}}"#, .invalid),
        (400, #"{"error":{"code":2}}"#, .unavailable),
        (400, #"{"error":{"code":12}}"#, .notConfigured(error: "error 12")), (500, "", .unavailable),
    ])
    func `Facebook's me`(status: Int, body: String, refusal: AccessTokenRefusal?) {
        Self.expect(refusal, "7") { () throws(AccessTokenRefusal) in
            try FacebookAnswers.person(
                status: status,
                body: Array(body.utf8),
                userID: "7",
                audience: Self.audience,
                nowSeconds: Self.now
            ).subject
        }
    }

    @Test(arguments: [
        (200, #"{"aud":"42","azp":"43","sub":"7","expires_in":"10"}"#, nil),
        (200, #"{"aud":"43","azp":"42","sub":"7","expires_in":10}"#, nil),
        (200, #"{"audience":"42","issued_to":"43","user_id":"7","expires_in":10}"#, nil),
        (200, #"{"aud":"43","azp":"43","sub":"7","expires_in":"10"}"#, AccessTokenRefusal.foreign),
        (200, #"{"aud":"42","sub":"7","expires_in":"0"}"#, .invalid),
        (200, #"{"aud":"42","sub":"7","expires_in":-1}"#, .invalid),
        (200, #"{"aud":"42","expires_in":"10"}"#, .invalid),
        (200, #"{"aud":"42","sub":"7"}"#, .unreadable), (200, #"{"sub":"7","expires_in":"10"}"#, .unreadable),
        (200, "<html>", .unreadable), (400, #"{"error":"invalid_token"}"#, .invalid),
        (400, #"{"error":"invalid_request"}"#, .invalid), (404, "", .notConfigured(error: "status 404")),
        (503, "", .unavailable), (302, "", .unreadable),
    ])
    func `Google's tokeninfo`(status: Int, body: String, refusal: AccessTokenRefusal?) {
        Self.expect(refusal, "7") { () throws(AccessTokenRefusal) in
            try GoogleAnswers.subject(status: status, body: Array(body.utf8), clientID: "42")
        }
    }

    @Test(arguments: [
        (200, #"{"sub":"7","email":"a@example.com","email_verified":"true"}"#, nil),
        (200, #"{"sub":"8"}"#, AccessTokenRefusal.foreign), (200, "{}", .unreadable), (401, "", .invalid),
        (403, "", .notConfigured(error: "status 403")), (500, "", .unavailable),
    ])
    func `Google's userinfo`(status: Int, body: String, refusal: AccessTokenRefusal?) {
        Self.expect(refusal, "7") { () throws(AccessTokenRefusal) in
            try GoogleAnswers.person(
                status: status,
                body: Array(body.utf8),
                subject: "7",
                audience: Self.audience,
                nowSeconds: Self.now
            ).subject
        }
    }

    @Test func `A person of an access token is known from the answer's moment on`() throws {
        let claims = try GoogleAnswers.person(
            status: 200,
            body: Array(#"{"sub":"7","name":"A Person","email":"a@example.com","email_verified":false}"#.utf8),
            subject: "7",
            audience: Self.audience,
            nowSeconds: Self.now
        )
        #expect(claims.issuedAtSeconds == Self.now)
        #expect(claims.acceptedUntilSeconds == Self.now + AccessToken.retrySeconds)
        #expect(claims.email == "a@example.com")
        #expect(!claims.isEmailVerified)
        #expect(claims.name == "A Person")
    }

    private static func expect(
        _ refusal: AccessTokenRefusal?,
        _ value: String,
        _ body: () throws(AccessTokenRefusal) -> String
    ) {
        do throws(AccessTokenRefusal) {
            let told = try body()
            #expect(refusal == nil)
            #expect(told == value)
        } catch {
            #expect(error == refusal)
        }
    }
}
