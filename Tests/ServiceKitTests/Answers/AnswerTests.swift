import API
import RPC
import ServiceKit
import Testing

private enum Refusal: DomainError {
    case full

    var rpcError: RPCError {
        switch self {
        case .full: .domain(.failedPrecondition, reason: "FULL", message: "It is full.", field: "size")
        }
    }
}

private struct Surprise: Error {}

struct AnswerTests {
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

    @Test func `The returned value of a body is the answer`() async throws {
        #expect(try await context().answer { 7 } == 7)
    }

    @Test func `A domain error has its code, reason, message and field`() async throws {
        let told = try await error(of: Refusal.full)
        #expect(told.code == .failedPrecondition && told.reason == "FULL" && told.message == "It is full.")
        #expect(told.fieldViolations == [FieldViolation(field: "size", description: "It is full.", reason: "FULL")])
    }

    @Test func `An RPCError is returned unchanged, and any other error without details`() async throws {
        #expect(try await error(of: RPCError(.aborted, "as it is")).message == "as it is")
        let inner = try await error(of: Surprise())
        #expect(inner.code == .internalError && inner.message == "internal error" && inner.cause is Surprise)
    }
}
