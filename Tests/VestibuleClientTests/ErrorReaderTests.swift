import Foundation
import Testing

@testable import VestibuleClient

struct ErrorReaderTests {
    private static func response(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: Data(body.utf8))
    }

    @Test func `An error of Connect has the server's code, the fields and the pause`() {
        let error = ErrorReader.error(
            ofCall: Self.response(
                400,
                #"""
                {"code":"invalid_argument","message":"No name.","details":[
                  {"type":"google.rpc.ErrorInfo","value":"x","debug":{"reason":"USERNAME_TAKEN","domain":"vestibule",
                   "metadata":{"suggestions":"ana1,ana2"}}},
                  {"type":"google.rpc.BadRequest","value":"x","debug":{"fieldViolations":[
                    {"field":"display_name","reason":"DISPLAY_NAME_INVALID","description":"Too short."}]}},
                  {"type":"google.rpc.RetryInfo","value":"x","debug":{"retryDelay":"1.500s"}}]}
                """#
            )
        )
        #expect(error.code == .usernameTaken)
        #expect(error.action == .show)
        #expect(error.message == "No name.")
        #expect(error.status == 400)
        #expect(error.retryAfter == .milliseconds(1500))
        #expect(error.metadata == ["suggestions": "ana1,ana2"])
        #expect(error.fields == ["displayName": .init(code: .displayNameInvalid, message: "Too short.")])
    }

    @Test func `A problem of a route is read as well`() {
        let error = ErrorReader.error(
            ofRoute: Self.response(
                413,
                #"{"type":"about:blank","title":"T","detail":"Too large.","status":413,"code":"AVATAR_TOO_LARGE"}"#
            )
        )
        #expect(error.code == .avatarTooLarge)
        #expect(error.message == "Too large.")
    }

    @Test(arguments: [
        (401, "<!DOCTYPE html>"), (403, ""), (302, "{}"), (401, #"{"code":"unauthenticated"}"#),
        (
            401,
            #"{"code":"unauthenticated","details":[{"type":"google.rpc.ErrorInfo","debug":{"reason":"SESSION_REVOKED","domain":"other"}}]}"#
        ),
        (401, #"{"error":"invalid_grant"}"#), (400, #"{"error":"invalid_grant"}"#),
        (401, #"{"code":"SESSION_EXPIRED"}"#),
        (401, #"{"type":"about:blank","code":"SESSION_EXPIRED"}"#),
    ])
    func `What is not the server's answer to a call is a bad response`(status: Int, body: String) {
        let error = ErrorReader.error(ofCall: Self.response(status, body))
        #expect(error.code == .badResponse)
        #expect(error.action == .retry)
        #expect(!SessionServer.isOver(error))
    }

    @Test(arguments: [
        #"{"code":"unauthenticated","details":[{"type":"google.rpc.ErrorInfo","debug":{"reason":"SESSION_REVOKED","domain":"vestibule"}}]}"#,
        #"{"type":"about:blank","code":"SESSION_EXPIRED"}"#,
    ])
    func `An endpoint of OAuth has errors of OAuth alone`(body: String) {
        #expect(ErrorReader.error(ofForm: Self.response(401, body)).code == .badResponse)
    }

    @Test(arguments: [
        #"{"code":"unauthenticated","details":[{"type":"google.rpc.ErrorInfo","debug":{"reason":"SESSION_REVOKED","domain":"vestibule"}}]}"#,
        #"{"error":"invalid_grant"}"#,
    ])
    func `A route has problems alone`(body: String) {
        #expect(ErrorReader.error(ofRoute: Self.response(401, body)).code == .badResponse)
    }

    @Test func `A proxy's failure is an unavailable server, with its pause`() {
        let error = ErrorReader.error(ofCall: Self.response(503, "<html>", ["retry-after": "7"]))
        #expect(error.code == .unavailable)
        #expect(error.action == .retry)
        #expect(error.retryAfter == .seconds(7))
        let long = ErrorReader.error(ofCall: Self.response(503, "", ["retry-after": "10000000"]))
        #expect(long.retryAfter == .seconds(86_400))
        let dated = ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:49:07 GMT"]
        #expect(ErrorReader.error(ofCall: Self.response(503, "", dated)).retryAfter == .seconds(30))
        for text in ["soon", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT"] {
            #expect(ErrorReader.error(ofCall: Self.response(503, "", ["retry-after": text])).retryAfter == nil)
        }
    }

    @Test func `Errors of OAuth have a code, and what to do`() {
        let over = ErrorReader.error(
            ofForm: Self.response(400, #"{"error":"invalid_grant","error_description":"It is spent."}"#)
        )
        #expect(over.code == .invalidGrant && over.action == .signInAgain && over.message == "It is spent.")
        let other = ErrorReader.error(ofForm: Self.response(401, #"{"error":"invalid_client"}"#))
        #expect(other.code == "INVALID_CLIENT" && other.action == .fixRequest)
        #expect(ErrorReader.error(ofForm: Self.response(503, #"{"error":"temporarily_unavailable"}"#)).action == .wait)
    }

    @Test func `The codes that end a session are those that say so`() {
        func isOver(_ code: VestibuleError.Code, _ status: Int) -> Bool {
            SessionServer.isOver(VestibuleError(code, "", status: status))
        }
        for code: VestibuleError.Code in [
            .refreshTokenInvalid, .refreshTokenReused, .sessionExpired, .sessionRevoked, .sessionInvalid,
            .accountOpened,
        ] {
            #expect(isOver(code, 401))
            #expect(ErrorTable.endsSession(code))
        }
        #expect(isOver(.accountBlocked, 403))
        #expect(!ErrorTable.endsSession(.accountBlocked))
        #expect(!isOver(.sessionRevoked, 503))
        for code: VestibuleError.Code in [
            .rateLimited, .accessTokenExpired, .databaseUnavailable, "A_CODE_OF_TOMORROW",
        ] {
            #expect(!isOver(code, 401))
        }
        // A provider's token that has expired, in a call that links it.
        #expect(!ErrorTable.endsSession(.tokenExpired))
    }

    @Test func `A code that isn't known has the action of its status`() {
        func action(_ status: Int?) -> VestibuleError.Action {
            ErrorTable.action(of: "A_CODE_OF_TOMORROW", status: status)
        }
        #expect([401, 429, 503, 404, 422, 500].map(action) == [.refresh, .wait, .wait, .show, .show, .retry])
        #expect(action(nil) == .retry)
    }

    @Test func `Texts for people are in the first language that there is`() {
        let error = VestibuleError(.phoneTaken, "The server's.")
        #expect(error.text(languages: ["de-AT", "en"]).hasPrefix("Diese Telefonnummer wird bereits"))
        #expect(error.text(languages: ["fr", "es_MX"]) == error.text(languages: ["es"]))
        #expect(error.text(languages: ["xx"]) == error.text(languages: ["en"]))
        #expect(
            VestibuleError.timeout.text(languages: ["en"]) == "That isn’t possible right now. Try again in a moment."
        )
        let other = VestibuleError("JSON_MALFORMED", "")
        #expect(other.text(languages: ["en"]) == "That didn’t work. Try again.")
    }

    @Test func `Neither an error nor credentials show a token`() {
        var credentials = Credentials.apple(idToken: "secret-token", nonce: SignInNonce(raw: "secret-nonce"))
        credentials.fullName = "secret-name"
        #expect(!"\(credentials)".contains("secret"))
        struct Failure: Error { let value = "secret" }
        #expect(!"\(VestibuleError.storeFailed(Failure()))".contains("secret"))
        // The number of a Keychain's failure is what a developer needs.
        #expect(VestibuleError.storeFailed(StoreFailure(-34018)).message.contains("-34018"))
    }
}
