import Foundation
import InteropAPI
import RPC
import SwiftProtobuf

// The streaming methods.
extension TestService {
    func streamingOutputCall(
        _ request: GrpcTesting.StreamingOutputCallRequest,
        responses: MessageWriter<GrpcTesting.StreamingOutputCallResponse>,
        context: ServerContext
    ) async throws {
        try await echoMetadata(context)
        try await answer(request, responses)
    }

    func streamingInputCall(
        _ requests: MessageReader<GrpcTesting.StreamingInputCallRequest>,
        context: ServerContext
    ) async throws -> GrpcTesting.StreamingInputCallResponse {
        try await echoMetadata(context)
        var size: Int32 = 0
        do {
            for try await request in requests {
                size = size.addingReportingOverflow(Int32(request.payload.body.count)).0
            }
        } catch let error as RPCError where error.code == .cancelled {
            countCancelled()
            throw error
        }
        return .with { $0.aggregatedPayloadSize = size }
    }

    func fullDuplexCall(
        _ requests: MessageReader<GrpcTesting.StreamingOutputCallRequest>,
        responses: MessageWriter<GrpcTesting.StreamingOutputCallResponse>,
        context: ServerContext
    ) async throws {
        try await echoMetadata(context)
        do {
            for try await request in requests { try await answer(request, responses) }
        } catch let error as RPCError where error.code == .cancelled {
            countCancelled()
            throw error
        }
    }

    func halfDuplexCall(
        _ requests: MessageReader<GrpcTesting.StreamingOutputCallRequest>,
        responses: MessageWriter<GrpcTesting.StreamingOutputCallResponse>,
        context: ServerContext
    ) async throws {
        try await echoMetadata(context)
        var kept: [GrpcTesting.StreamingOutputCallRequest] = []
        for try await request in requests {
            guard kept.count < Self.keptRequestsMax else { throw RPCError(.resourceExhausted, "too many requests") }
            kept.append(request)
        }
        for request in kept { try await answer(request, responses) }
    }

    /// Requests that a half-duplex call keeps until the last has come.
    private static let keptRequestsMax = 1000

    /// Sends the responses that a request asks for, or fails as it asks.
    private func answer(
        _ request: GrpcTesting.StreamingOutputCallRequest,
        _ responses: MessageWriter<GrpcTesting.StreamingOutputCallResponse>
    ) async throws {
        try fail(as: request.responseStatus)
        for parameters in request.responseParameters {
            guard 0...Int32(Self.responseBytesMax) ~= parameters.size else {
                throw RPCError(.invalidArgument, "a response's size is out of range")
            }
            if parameters.intervalUs > 0 { try await sleep(for: .microseconds(Int64(parameters.intervalUs))) }
            try await responses.write(.with { $0.payload.body = Data(count: Int(parameters.size)) })
        }
    }
}
