import API
import IdentityDomain
import JOSE
import OutgoingHTTP
import RPC
import Testing

@testable import IdentityService

struct AccessTokenCheckTests {
    static let facebookApp = "1234567890"

    @Test func `Facebook is asked which app a token is for, then which person`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsFacebook(bench)
            let checked = try await bench.check("a-token", "facebook", clientID: Self.facebookApp)
            #expect(checked.claims.subject == "1001")
            #expect(checked.claims.audience == Self.facebookApp)
            #expect(checked.claims.name == "A Person")
            #expect(checked.claims.email == "person@example.com")
            #expect(!checked.claims.isEmailVerified, "Facebook doesn't say")
            #expect(checked.claims.nonceVerdict == .notProven)
            let requests = bench.http.requests
            #expect(
                requests.map(\.description) == [
                    "GET https://provider.example/facebook/debug_token", "GET https://provider.example/facebook/me",
                ]
            )
            #expect(requests[0].field("input_token") == "a-token")
            #expect(requests[0].field("access_token") == "1234567890|\(ExchangeBench.appSecret)")
            #expect(requests[1].field("fields") == "id,name,email")
            #expect(requests[1].field("access_token") == "a-token")
            // hmac.new(b"the-app-secret", b"a-token", "sha256").hexdigest() in Python.
            #expect(
                requests[1].field("appsecret_proof")
                    == "0d8badabe45ffaaa16e0ee7d1f387aaa1118f29195715e4f638af0ecc857bdff"
            )
        }
    }

    @Test func `Google is asked which client a token is for, then which person`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsGoogle(bench)
            let checked = try await bench.check("a-token", "google", clientID: "web")
            #expect(checked.claims.subject == "2002")
            #expect(checked.claims.email == "person@gmail.com")
            #expect(checked.claims.isEmailVerified)
            let requests = bench.http.requests
            #expect(
                requests.map(\.description) == [
                    "GET https://provider.example/google/tokeninfo", "GET https://provider.example/google/userinfo",
                ]
            )
            #expect(requests[0].field("access_token") == "a-token")
            #expect(requests[1].headers.contains { $0 == ("authorization", "Bearer a-token") })
            // `azp` is the Android or iOS client to which the token was given.
            _ = try await bench.check("a-token", "google", clientID: "ios")
        }
    }

    @Test func `A token for another app or person is refused`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsFacebook(bench, app: "999")
            await Self.expect(.exchange(.accessTokenForeign)) {
                try await bench.check("a-token", "facebook", clientID: Self.facebookApp)
            }
            Self.answerAsFacebook(bench, person: "1002")
            await Self.expect(.exchange(.accessTokenForeign)) {
                try await bench.check("a-token", "facebook", clientID: Self.facebookApp)
            }
            Self.answerAsGoogle(bench, subject: "2003")
            await Self.expect(.exchange(.accessTokenForeign)) {
                try await bench.check("a-token", "google", clientID: "web")
            }
            Self.answerAsGoogle(bench, clients: #""aud":"theirs","azp":"theirs""#)
            let asked = bench.http.requests.count
            await Self.expect(.exchange(.accessTokenForeign)) {
                try await bench.check("a-token", "google", clientID: "web")
            }
            #expect(bench.http.requests.count == asked + 1, "the person isn't asked for then")
            #expect(bench.count("google", "access_token", "foreign") == "2")
        }
    }

    @Test func `A token that can't be valid is refused without asking the provider`() async throws {
        try await ExchangeBench.run { bench in
            await Self.expect(.signIn(.clientUnknown)) {
                try await bench.check("a-token", "facebook", clientID: "999")
            }
            // No secret is configured for this audience.
            await Self.expect(.signIn(.exchangeNotConfigured)) {
                try await bench.check("a-token", "facebook", clientID: "2222222222")
            }
            for token in ["", "a b", "a\r\nx: y", "é", String(repeating: "t", count: AccessToken.bytesMax + 1)] {
                await Self.expect(.exchange(.accessTokenInvalid)) {
                    try await bench.check(token, "google", clientID: "web")
                }
            }
            #expect(bench.http.requests.isEmpty)
            #expect(bench.replicas[0].methods.accessTokens[.apple] == nil)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A provider that is down or slow is unavailable before the deadline`() async throws {
        try await ExchangeBench.run { bench in
            for status in [500, 503, 429] {
                bench.http.answer(status, "")
                await Self.expect(.providerUnavailable) {
                    try await bench.check("a-token", "google", clientID: "web")
                }
            }
            bench.http.answer(200, "<html>")
            await Self.expect(.providerUnavailable) {
                try await bench.check("a-token", "facebook", clientID: Self.facebookApp)
            }
            bench.http.answer { _ throws(OutgoingHTTPError) in
                throw OutgoingHTTPError(.timeout, mayHaveBeenSent: true)
            }
            await Self.expect(.providerUnavailable) {
                try await bench.check("a-token", "google", clientID: "web", deadline: .after(.milliseconds(800)))
            }
            let timeout = try #require(bench.http.requests.last).timeout
            #expect(timeout < .milliseconds(700))
            #expect(bench.count("google", "access_token", "unanswered") == "1")
        }
    }

    @Test func `An address that guesses tokens is slowed down`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(400, #"{"error":"invalid_token"}"#)
            for index in 0..<ExchangeAdmission.refusalsByAddressMax {
                await Self.expect(.exchange(.accessTokenInvalid)) {
                    try await bench.check("guess-\(index)", "google", clientID: "web", address: [1])
                }
            }
            Self.answerAsGoogle(bench)
            await Self.expect(.exchange(.tooManyRefused(retryAfterMilliseconds: 60_000))) {
                try await bench.check("a-token", "google", clientID: "web", address: [1])
            }
            _ = try await bench.check("a-token", "google", clientID: "web", address: [2])
        }
    }

    /// SDKs return the same token again and again.
    @Test func `A token gets the same session within a minute, and another one later`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsGoogle(bench)
            let first = try await Self.signIn(bench)
            #expect(try await Self.signIn(bench).tokens.sessionID == first.tokens.sessionID)
            bench.clock.advance(seconds: 61)
            let second = try await Self.signIn(bench)
            #expect(second.tokens.sessionID != first.tokens.sessionID)
            #expect(second.tokens.userID == first.tokens.userID)
            #expect(!second.isNewUser)
            #expect(second.proof == .accessToken)
        }
    }

    @Test func `A session in use isn't returned to the next sign-in with the same token`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsGoogle(bench)
            let first = try await Self.signIn(bench)
            var refresh = IdentityV1.RefreshRequest()
            refresh.refreshToken = first.tokens.refreshToken
            _ = try await bench.methods.refresh(refresh, context: ExchangeBench.context("Refresh"))
            #expect(try await Self.signIn(bench).tokens.sessionID != first.tokens.sessionID)
        }
    }

    @Test func `After the end of all sessions a new sign-in works`() async throws {
        try await ExchangeBench.run { bench in
            Self.answerAsGoogle(bench)
            let first = try await Self.signIn(bench)
            bench.clock.advance(seconds: 5)
            _ = try await bench.store.endSessions(.all, count: 0, bench.clock.wallClock)
            bench.clock.advance(seconds: 5)
            #expect(try await Self.signIn(bench).tokens.sessionID != first.tokens.sessionID)
        }
    }

    @Test func `A code alone gets the same session within a minute, and is spent later`() async throws {
        try await ExchangeBench.run { bench in
            bench.http.answer(200, try bench.answer())
            func signIn(create: Bool = true) async throws -> IdentityV1.SignInResponse {
                var request = IdentityV1.SignInRequest()
                request.provider = "apple"
                request.authorizationCode = "c0de"
                request.clientID = "com.example.app"
                request.create = create
                return try await bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await signIn(create: false) }
            bench.clock.advance(seconds: 200)
            let first = try await signIn()
            #expect(first.isNewUser)
            #expect(first.proof == .code)
            #expect(try await signIn().tokens.sessionID == first.tokens.sessionID)
            bench.clock.advance(seconds: 61)
            await expectFailure(.unauthenticated, "CODE_SPENT") { _ = try await signIn() }
            #expect(bench.http.requests.count == 1)
        }
    }

    private static func signIn(_ bench: ExchangeBench) async throws -> IdentityV1.SignInResponse {
        var request = IdentityV1.SignInRequest()
        request.provider = "google"
        request.accessToken = "a-token"
        request.clientID = "web"
        return try await bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
    }

    static func answerAsFacebook(_ bench: ExchangeBench, app: String = facebookApp, person: String = "1001") {
        bench.http.answer { request throws(OutgoingHTTPError) in
            let body =
                request.url.hasSuffix("/debug_token")
                ? #"{"data":{"app_id":"\#(app)","type":"USER","is_valid":true,"expires_at":0,"user_id":"1001"}}"#
                : #"{"id":"\#(person)","name":"A Person","email":"person@example.com"}"#
            return OutgoingResponse(status: 200, body: Array(body.utf8))
        }
    }

    private static func answerAsGoogle(
        _ bench: ExchangeBench,
        clients: String = #""aud":"web","azp":"ios""#,
        subject: String = "2002"
    ) {
        bench.http.answer { request throws(OutgoingHTTPError) in
            let body =
                request.url.hasSuffix("/tokeninfo")
                ? #"{\#(clients),"sub":"2002","expires_in":"3599","scope":"openid email"}"#
                : #"{"sub":"\#(subject)","name":"A Person","email":"person@gmail.com","email_verified":true}"#
            return OutgoingResponse(status: 200, body: Array(body.utf8))
        }
    }

    private static func expect(
        _ fault: IdentityError,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> ExchangedCode
    ) async {
        await #expect(throws: fault, sourceLocation: sourceLocation) { try await body() }
    }
}
