import Foundation
import InteropAPI
import RPC

// Compressed messages.
extension InteropCase {
    private static let requestSize = 271_828
    private static let responseSize = 314_159

    private static var request: GrpcTesting.SimpleRequest {
        var request = GrpcTesting.SimpleRequest()
        request.payload.body = Data(count: requestSize)
        request.responseSize = Int32(responseSize)
        return request
    }

    static func clientCompressedUnary(_ call: InteropCall) async throws {
        // Whether the server looks at all.
        var probe = request
        probe.expectCompressed.value = true
        let sent = probe
        let error = try await call.error { _ = try await call.client.unaryCall(sent, options: InteropCall.options()) }
        try expect(error.code, .invalidArgument, "code of a request that should have been compressed")
        for isCompressed in [true, false] {
            var request = request
            request.expectCompressed.value = isCompressed
            var options = InteropCall.options()
            options.compressesRequest = isCompressed
            let response = try await call.client.unaryCall(request, options: options)
            try expect(response.payload.body, Data(count: responseSize), "payload")
        }
    }

    static func serverCompressedUnary(_ call: InteropCall) async throws {
        for isCompressed in [true, false] {
            var request = request
            request.responseCompressed.value = isCompressed
            var options = InteropCall.options()
            let answer = ResponseMetadata()
            options.responseMetadata = answer
            let response = try await call.client.unaryCall(request, options: options)
            try expect(response.payload.body, Data(count: responseSize), "payload")
            try expect(answer.isCompressed, isCompressed, "compression of the answer")
        }
    }
}
