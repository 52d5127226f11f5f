import API
import Postgres
import RPC
import ServiceKit
import ServiceStore
import Testing

/// The conversion of a statement's outcome to the caller's error: which errors may be retried, and which may not.
struct DatabaseErrorTests {
    private func pushback(_ error: RPCError) -> String? { error.metadata.first("grpc-retry-pushback-ms") }

    @Test(arguments: [
        (PostgresError.connectionLost(outcomeUnknown: true), Status.Code.unknown),
        (.timeout(outcomeUnknown: true), .deadlineExceeded),
    ]
    )
    func `An unknown outcome is never returned as retryable`(error: PostgresError, code: Status.Code) {
        let told = RPCError(database: error)
        #expect(told.code == code)
        #expect(told.reason == "OUTCOME_UNKNOWN")
        #expect(told.retryAfter == nil)
        #expect(pushback(told) == "-1")
    }

    @Test func `A repeatable call's error says when to retry, and a broken connection allows the client's own retry`() {
        let lost = RPCError(database: .connectionLost(outcomeUnknown: true), mayBeRepeated: true)
        #expect(lost.code == .unavailable && lost.reason == "DATABASE_UNAVAILABLE")
        #expect(lost.retryAfter == .seconds(1))
        #expect(pushback(lost) == nil)
        let late = RPCError(database: .timeout(outcomeUnknown: true), mayBeRepeated: true)
        #expect(late.code == .deadlineExceeded && late.reason == "DATABASE_TIMEOUT")
        #expect(late.retryAfter == .seconds(1))
        #expect(pushback(late) == "-1")
    }

    @Test(arguments: [
        (PostgresError.connectionLost(outcomeUnknown: false), Status.Code.unavailable),
        (.unavailable("away"), .unavailable), (.poolExhausted, .unavailable), (.closed, .unavailable),
        (.timeout(outcomeUnknown: false), .deadlineExceeded),
    ]
    )
    func `A statement that was certainly not executed may be retried, but not by the client at once`(
        error: PostgresError,
        code: Status.Code
    ) {
        let told = RPCError(database: error)
        #expect(told.code == code)
        #expect(told.reason == (code == .unavailable ? "DATABASE_UNAVAILABLE" : "DATABASE_TIMEOUT"))
        #expect(told.retryAfter == .seconds(1))
        #expect(pushback(told) == "-1")
    }

    @Test func `An internal error reveals no internals`() {
        let fault = PostgresServerError(state: .uniqueViolation, message: "Key (phone)=(63917) already exists")
        let told = RPCError(database: .server(fault))
        #expect(told.code == .internalError && told.message == "internal error" && told.reason == nil)
        #expect(RPCError(database: .cancelled(outcomeUnknown: false)).code == .cancelled)
    }

    private func context(isIdempotent: Bool = false) -> ServerContext {
        let method = MethodDescriptor(service: "test.Service", method: "Do", isIdempotent: isIdempotent)
        return ServerContext(
            ServerCall(
                method: method,
                metadata: Metadata(),
                deadline: nil,
                peer: PeerInfo(address: "127.0.0.1:1", isEncrypted: false, certificateNames: [])
            )
        )
    }

    private func error(
        of thrown: any Error,
        isIdempotent: Bool = false,
        mayBeRepeated: Bool? = nil
    ) async throws -> RPCError {
        try await #require(throws: RPCError.self) {
            try await context(isIdempotent: isIdempotent).answer(mayBeRepeated: mayBeRepeated) { throw thrown }
        }
    }

    @Test
    func `An unknown outcome is reported unless the call may be repeated, by its proto or its method`() async throws {
        let lost = PostgresError.connectionLost(outcomeUnknown: true)
        #expect(try await error(of: lost).reason == "OUTCOME_UNKNOWN")
        #expect(try await error(of: lost, isIdempotent: true).reason == "DATABASE_UNAVAILABLE")
        #expect(try await error(of: lost, mayBeRepeated: true).reason == "DATABASE_UNAVAILABLE")
        #expect(try await error(of: lost, isIdempotent: true, mayBeRepeated: false).reason == "OUTCOME_UNKNOWN")
    }
}
