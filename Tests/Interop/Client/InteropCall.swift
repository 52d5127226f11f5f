import Foundation
import InteropAPI
import RPC
import SwiftProtobuf

/// What the cases call with.
struct InteropCall: Sendable {
    let client: TestServiceClient
    let channel: any ClientChannel

    static let limit: Duration = .seconds(15)

    /// Options with a time limit that only a hanging call meets.
    static func options(_ metadata: KeyValuePairs<String, String> = [:]) -> CallOptions {
        CallOptions(timeout: limit, metadata: Metadata(metadata))
    }

    /// The size of the payload that comes back.
    func payloadSize(sending bytes: Int = 0, asking size: Int) async throws -> Int {
        var request = GrpcTesting.SimpleRequest()
        request.payload.body = Data(count: bytes)
        request.responseSize = Int32(size)
        return try await client.unaryCall(request, options: Self.options()).payload.body.count
    }

    /// The error of a call that asks for this status.
    func failure(
        code: Status.Code,
        message: String,
        metadata: Metadata = Metadata()
    ) async throws -> RPCError {
        var request = GrpcTesting.SimpleRequest()
        request.responseStatus.code = Int32(code.rawValue)
        request.responseStatus.message = message
        let sent = request
        return try await error {
            _ = try await client.unaryCall(sent, options: CallOptions(timeout: Self.limit, metadata: metadata))
        }
    }

    /// The error of a stream whose only request asks for this status.
    func streamFailure(code: Status.Code, message: String) async throws -> RPCError {
        var request = GrpcTesting.StreamingOutputCallRequest()
        request.responseStatus.code = Int32(code.rawValue)
        request.responseStatus.message = message
        let sent = request
        return try await error {
            try await client.fullDuplexCall(options: Self.options()) { writer, reader in
                try await writer.write(sent)
                writer.finish()
                for try await _ in reader { throw CaseFailure("a response came ahead of the status") }
            }
        }
    }

    /// A request of the output methods: a payload, and for each size a response.
    static func outputRequest(
        sending bytes: Int = 0,
        asking sizes: [Int]
    ) -> GrpcTesting.StreamingOutputCallRequest {
        var request = GrpcTesting.StreamingOutputCallRequest()
        request.payload.body = Data(count: bytes)
        request.responseParameters = sizes.map { size in .with { $0.size = Int32(size) } }
        return request
    }

    /// The error of a call that must fail.
    func error(_ call: () async throws -> Void) async throws -> RPCError {
        do {
            try await call()
        } catch let error as RPCError {
            return error
        }
        throw CaseFailure("the call should have failed")
    }
}

/// A case that doesn't hold.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws unless both are equal.
func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) throws {
    guard found == wanted else { throw CaseFailure("\(what): found \(found), wanted \(wanted)") }
}
