import API
import Foundation
import InteropAPI
import RPC
import Synchronization

/// The methods of `grpc.testing.TestService`, as gRPC's interoperability tests describe them, steered further by request
/// headers that the README beside this folder lists.
final class TestService: TestServiceHandler {
    static let responseBytesMax = 16 << 20

    private let cancelledCalls = Atomic(0)

    func emptyCall(_ request: GrpcTesting.Empty, context: ServerContext) async throws -> GrpcTesting.Empty {
        var trailers = Metadata()
        trailers.add("x-test-cancelled-calls", "\(cancelledCalls.load(ordering: .relaxed))")
        trailers.add("x-test-deadline", context.deadline == nil ? "none" : "some")
        context.setTrailingMetadata(trailers)
        return GrpcTesting.Empty()
    }

    func unaryCall(
        _ request: GrpcTesting.SimpleRequest,
        context: ServerContext
    ) async throws -> GrpcTesting.SimpleResponse {
        try await waitAsAsked(context)
        if request.responseCompressed.value { await context.compressResponses() }
        try await echoMetadata(context)
        try failAsAsked(request, context)
        guard 0...Int32(Self.responseBytesMax) ~= request.responseSize else {
            throw RPCError(.invalidArgument, "response_size is out of range")
        }
        if request.hasExpectCompressed, request.expectCompressed.value != context.isRequestCompressed {
            throw RPCError(.invalidArgument, "the request should be compressed, or should not be")
        }
        var response = GrpcTesting.SimpleResponse()
        response.payload.body = Data(count: Int(request.responseSize))
        if context.metadata.first("x-test-echo-payload") == "1" { response.payload.body = request.payload.body }
        if request.fillServerID { response.serverID = "vestibule" }
        if request.fillUsername { response.username = context.peer.certificateNames.first ?? "" }
        return response
    }

    func cacheableUnaryCall(
        _ request: GrpcTesting.SimpleRequest,
        context: ServerContext
    ) async throws -> GrpcTesting.SimpleResponse {
        try await unaryCall(request, context: context)
    }

    /// Answers as a method does that the server hasn't got.
    func unimplementedCall(_ request: GrpcTesting.Empty, context: ServerContext) async throws -> GrpcTesting.Empty {
        throw RPCError(.unimplemented, "left out, as the tests want it")
    }

    private func waitAsAsked(_ context: ServerContext) async throws {
        guard let milliseconds = context.metadata.first("x-test-delay-ms").flatMap(Int.init) else { return }
        try await sleep(for: .milliseconds(milliseconds))
    }

    /// Sleeps, and counts if the call ended meanwhile.
    func sleep(for duration: Duration) async throws {
        do {
            try await Task.sleep(for: duration)
        } catch {
            countCancelled()
            throw error
        }
    }

    func countCancelled() { cancelledCalls.add(1, ordering: .relaxed) }

    /// Sends back what the tests' two headers carry: one in the head, one in the trailers.
    func echoMetadata(_ context: ServerContext) async throws {
        let initial = "x-grpc-test-echo-initial", trailing = "x-grpc-test-echo-trailing-bin"
        if let value = context.metadata.first(initial) {
            try await context.sendInitialMetadata(Metadata([initial: value]))
        }
        if let value = context.metadata.firstBinary(trailing) {
            var trailers = Metadata()
            trailers.addBinary(trailing, value)
            context.setTrailingMetadata(trailers)
        }
    }

    private func failAsAsked(_ request: GrpcTesting.SimpleRequest, _ context: ServerContext) throws {
        if let reason = context.metadata.first("x-test-reason") {
            throw RPCError.domain(
                .invalidArgument,
                reason: reason,
                message: request.responseStatus.message,
                fields: [FieldViolation(field: "payload", description: "The payload is at fault.", reason: reason)],
                retryAfter: .milliseconds(1500)
            )
        }
        try fail(as: request.responseStatus)
    }

    /// Ends the call with the status that the request names, if it names one.
    func fail(as status: GrpcTesting.EchoStatus) throws {
        if status.code != 0 { throw RPCError(Status.Code(wire: Int(status.code)), status.message) }
    }
}
