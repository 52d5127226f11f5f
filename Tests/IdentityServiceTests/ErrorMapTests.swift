import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import Testing

@testable import IdentityService

struct ErrorMapTests {
    @Test func `Every token rejection has a reason of its own`() {
        let errors = TokenRejection.allCases.map { IdentityError.token($0).rpcError }
        #expect(errors.allSatisfy { $0.code == .unauthenticated })
        #expect(
            errors.map(\.reason) == [
                "TOKEN_MALFORMED", "TOKEN_ALGORITHM", "TOKEN_UNSIGNED", "TOKEN_KEY_UNKNOWN", "TOKEN_SIGNATURE",
                "TOKEN_ISSUER", "TOKEN_AUDIENCE", "TOKEN_EXPIRED", "TOKEN_NOT_YET_VALID",
                "TOKEN_NONCE_MISSING", "TOKEN_NONCE_MISMATCH", "TOKEN_CODE_HASH", "TOKEN_REPLAYED", "TOKEN_SUBJECT",
            ]
        )
        #expect(Set(errors.map(\.message)).count == TokenRejection.allCases.count)
    }

    @Test func `Database errors reveal no internals`() {
        let down = RPCError(answering: PostgresError.unavailable("away"), mayBeRepeated: true)
        #expect(down.code == .unavailable)
        // The pool has retried already: another retry by the client would only make its caller wait.
        #expect(down.metadata.first("grpc-retry-pushback-ms") == "-1")
        #expect(down.reason == "DATABASE_UNAVAILABLE")
        #expect(down.retryAfter == .seconds(1))
        // These calls may be repeated, so no error has to say that the outcome is unknown.
        let lost = RPCError(answering: PostgresError.connectionLost(outcomeUnknown: true), mayBeRepeated: true)
        #expect(lost.code == .unavailable && lost.reason == "DATABASE_UNAVAILABLE")
        let fault = PostgresServerError(state: .uniqueViolation, message: "Key (subject)=(001.person) already exists")
        let inner = RPCError(answering: PostgresError.server(fault), mayBeRepeated: true)
        #expect(inner.code == .internalError)
        #expect(inner.message == "internal error")
        #expect(inner.cause != nil)
        let cancelled = RPCError(answering: PostgresError.cancelled(outcomeUnknown: false), mayBeRepeated: true)
        #expect(cancelled.code == .cancelled)
    }

    @Test func `A rejected device name names the field and says why`() {
        let error = IdentityError.deviceNameInvalid(.tooLong(charactersMax: 50)).rpcError
        #expect(error.code == .invalidArgument && error.reason == "DEVICE_NAME_INVALID")
        #expect(error.message == "The device name must have at most 50 characters.")
        #expect(error.fieldViolations.map(\.field) == ["device_name"])
        #expect(IdentityError.sessionNotFound.rpcError.code == .notFound)
    }

    @Test func `An unknown provider is not found, and no field is named`() {
        let error = IdentityError.providerUnknown.rpcError
        #expect(error.code == .notFound && error.reason == "PROVIDER_UNKNOWN" && error.fieldViolations.isEmpty)
    }
}
