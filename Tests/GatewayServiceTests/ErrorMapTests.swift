import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import Testing

@testable import GatewayService

/// The conversion of RPC statuses to problems for clients.
struct ErrorMapTests {
    private static let statuses: [Status.Code: Int] = [
        .ok: 500, .cancelled: 499, .unknown: 500, .invalidArgument: 400, .deadlineExceeded: 504, .notFound: 404,
        .alreadyExists: 409, .permissionDenied: 403, .resourceExhausted: 429, .failedPrecondition: 400, .aborted: 409,
        .outOfRange: 400, .unimplemented: 501, .internalError: 500, .unavailable: 503, .dataLoss: 500,
        .unauthenticated: 401,
    ]

    @Test(arguments: Status.Code.allCases)
    func `Each code has an HTTP status`(code: Status.Code) throws {
        let expected = code == .ok ? 500 : try #require(Self.statuses[code])
        #expect(Problem(answering: RPCError(code, "inner words")).status.code == expected)
        let domain = Problem(answering: RPCError.domain(code, reason: "SOME_REASON", message: "For people."))
        #expect(domain.status.code == expected)
    }

    /// Errors about an app's credentials; none is about an access token (RFC 6750 section 3.1).
    @Test(arguments: [
        "CODE_REQUIRED", "CODE_SPENT", "CODE_FOREIGN", "TOKEN_STALE", "TOKEN_SUBJECT", "TICKET_INVALID",
        "ACCESS_TOKEN_FOREIGN", "PROVIDER_TOKEN_INVALID", "PROOF_REQUIRED", "WEB_STATE_INVALID",
    ])
    func `Refused credentials don't ask for another token`(reason: String) {
        let problem = Problem(answering: RPCError.domain(.unauthenticated, reason: reason, message: "For people."))
        #expect(problem.status == .unauthorized && problem.code == reason)
        #expect(problem.headers[.wwwAuthenticate] == Authentication.challenge)
    }

    /// An error about identity's proof of the caller is internal: an app that took it for a refused token would sign out.
    @Test(arguments: ["CALLER_PROOF_REQUIRED", "CALLER_PROOF_INVALID", "CALLER_PROOF_EXPIRED"])
    func `A refused caller proof is not reported as a refused token`(reason: String) throws {
        let error = RPCError.domain(.unauthenticated, reason: reason, message: "inner words")
        let problem = Problem(answering: error)
        #expect(problem.status == .serviceUnavailable && problem.code == reason)
        #expect(problem.headers[.retryAfter] == "1" && problem.headers[.wwwAuthenticate] == nil)
        #expect(!problem.body.text.contains("inner"))
        let told = RPCError(answering: error)
        #expect(told.code == .unavailable && told.reason == reason && told.retryAfter == .seconds(1))
    }

    @Test(arguments: Status.Code.allCases)
    func `A message without a reason is never sent`(code: Status.Code) {
        let problem = Problem(answering: RPCError(code, "inner words"))
        #expect(!problem.body.text.contains("inner"))
        #expect("\(problem.cause as Any)".contains("inner words"))
    }

    @Test(arguments: [
        Status.Code.unavailable, .deadlineExceeded, .cancelled, .unimplemented, .internalError, .unknown, .dataLoss,
    ])
    func `Internal errors are not explained`(code: Status.Code) {
        struct Secret: Error {}
        let error = RPCError.domain(code, reason: "DATABASE_UNAVAILABLE", message: "host db-3 is down", cause: Secret())
        let problem = Problem(answering: error)
        #expect(!problem.body.text.contains("db-3"))
        #expect("\(problem.cause as Any)".contains("Secret"))
        let isInternal = [Status.Code.internalError, .unknown, .dataLoss].contains(code)
        #expect(problem.code == (isInternal ? "INTERNAL" : "DATABASE_UNAVAILABLE"))
    }

    @Test(arguments: [Status.Code.invalidArgument, .failedPrecondition, .outOfRange])
    func `Invalid fields are answered with 422`(code: Status.Code) {
        let fields = [
            FieldViolation(field: "a", description: "A.", reason: "A_BAD"),
            FieldViolation(field: "b", description: "B.", reason: ""),
        ]
        let problem = Problem(answering: RPCError.domain(code, reason: "R", message: "M.", fields: fields))
        #expect(problem.status == .unprocessableContent)
        #expect(
            problem.fields == [
                .init("a", code: "A_BAD", detail: "A."), .init("b", code: "R", detail: "B."),
            ]
        )
    }

    @Test func `A conflict keeps its status and its fields`() {
        let fields = [FieldViolation(field: "username", description: "Taken.", reason: "USERNAME_TAKEN")]
        let error = RPCError.domain(.alreadyExists, reason: "USERNAME_TAKEN", message: "Taken.", fields: fields)
        #expect(Problem(answering: error).status == .conflict)
        #expect(Problem(answering: error).fields.map(\.name) == ["username"])
    }

    @Test(arguments: [Status.Code.unavailable, .resourceExhausted, .deadlineExceeded])
    func `A retryable error says when to retry`(code: Status.Code) {
        #expect(Problem(answering: RPCError(code, "")).headers[.retryAfter] == "1")
        let error = RPCError.domain(code, reason: "TOO_MANY_ATTEMPTS", message: "Later.", retryAfter: .seconds(90))
        #expect(Problem(answering: error).headers[.retryAfter] == "90")
    }

    @Test(arguments: [(Status.Code.unknown, 500), (.deadlineExceeded, 504)])
    func `An unknown outcome is not retryable`(code: Status.Code, status: Int) {
        let error = RPCError.domain(code, reason: "OUTCOME_UNKNOWN", message: "inner words")
        for problem in [Problem(answering: error), Problem(answering: error, mayBeRepeated: false)] {
            #expect(problem.status.code == status)
            #expect(problem.code == "OUTCOME_UNKNOWN")
            #expect(problem.headers[.retryAfter] == nil)
            #expect(!problem.body.text.contains("inner"))
        }
    }

    @Test(arguments: [Status.Code.unavailable, .deadlineExceeded, .unknown, .internalError, .cancelled])
    func `An interrupted call has an unknown outcome unless it may be repeated`(code: Status.Code) {
        let problem = Problem(answering: RPCError(code, "the connection was lost"), mayBeRepeated: false)
        #expect(problem.status.code == (code == .deadlineExceeded ? 504 : 500))
        #expect(problem.code == "OUTCOME_UNKNOWN")
        #expect(problem.headers[.retryAfter] == nil)
    }

    @Test func `A call that was certainly not executed may be retried`() {
        let refused = RPCError.domain(
            .unavailable,
            reason: "DATABASE_UNAVAILABLE",
            message: "",
            retryAfter: .seconds(3)
        )
        #expect(Problem(answering: refused, mayBeRepeated: false).status == .serviceUnavailable)
        #expect(Problem(answering: refused, mayBeRepeated: false).headers[.retryAfter] == "3")
        let unsent = RPCError(.unavailable, "cannot connect", cause: CallNotSent())
        #expect(Problem(answering: unsent, mayBeRepeated: false).status == .serviceUnavailable)
        #expect(Problem(answering: unsent, mayBeRepeated: false).headers[.retryAfter] == "1")
        #expect(Problem(answering: RPCError(.permissionDenied, ""), mayBeRepeated: false).status == .forbidden)
    }

    @Test(arguments: [
        ("ACCESS_TOKEN_INVALID", true), ("SESSION_REVOKED", true), ("TOKEN_EXPIRED", false),
        ("REFRESH_TOKEN_REUSED", false),
    ])
    func `The challenge matches the token's error`(reason: String, isInvalidToken: Bool) {
        let problem = Problem(answering: RPCError.domain(.unauthenticated, reason: reason, message: "No."))
        let challenge = problem.headers[.wwwAuthenticate] ?? ""
        #expect(challenge.hasPrefix(#"Bearer realm="vestibule""#))
        #expect(challenge.contains("invalid_token") == isInvalidToken)
    }

    @Test func `Other errors are internal or unchanged`() {
        struct Surprise: Error {}
        #expect(Problem(answering: Surprise()).status == .internalServerError)
        #expect(Problem(answering: CancellationError()).status.code == 499)
        #expect(Problem(answering: Problem(.gone, code: "GONE", detail: "Gone.") as any Error).code == "GONE")
    }
}
