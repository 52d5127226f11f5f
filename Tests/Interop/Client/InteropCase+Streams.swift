import Foundation
import InteropAPI
import RPC
import SwiftProtobuf

// Streams.
extension InteropCase {
    private static let requestSizes = [27_182, 8, 1828, 45_904]
    private static let responseSizes = [31_415, 9, 2653, 58_979]

    static func clientStreaming(_ call: InteropCall) async throws {
        let response = try await call.client.streamingInputCall(options: InteropCall.options()) { writer in
            for size in requestSizes { try await writer.write(.with { $0.payload.body = Data(count: size) }) }
        }
        try expect(response.aggregatedPayloadSize, 74_922, "sum")
    }

    static func serverStreaming(_ call: InteropCall) async throws {
        let request = InteropCall.outputRequest(asking: responseSizes)
        let sizes = try await call.client.streamingOutputCall(request, options: InteropCall.options()) { reader in
            try await reader.reduce(into: [Int]()) { $0.append($1.payload.body.count) }
        }
        try expect(sizes, responseSizes, "sizes")
    }

    static func pingPong(_ call: InteropCall) async throws {
        try await call.client.fullDuplexCall(options: InteropCall.options()) { writer, reader in
            var responses = reader.makeAsyncIterator()
            for (sent, asked) in zip(requestSizes, responseSizes) {
                try await writer.write(InteropCall.outputRequest(sending: sent, asking: [asked]))
                try expect(try await responses.next()?.payload.body.count, asked, "size")
            }
            writer.finish()
            try expect(try await responses.next() == nil, true, "end of the stream")
        }
    }

    static func emptyStream(_ call: InteropCall) async throws {
        let count = try await call.client.fullDuplexCall(options: InteropCall.options()) { writer, reader in
            writer.finish()
            return try await reader.reduce(0) { count, _ in count + 1 }
        }
        try expect(count, 0, "responses")
    }

    static func halfDuplex(_ call: InteropCall) async throws {
        let sizes = try await call.client.halfDuplexCall(options: InteropCall.options()) { writer, reader in
            for (sent, asked) in zip(requestSizes, responseSizes) {
                try await writer.write(InteropCall.outputRequest(sending: sent, asking: [asked]))
            }
            writer.finish()
            return try await reader.reduce(into: [Int]()) { $0.append($1.payload.body.count) }
        }
        try expect(sizes, responseSizes, "sizes")
    }

    /// More than any flow-control window, both ways at once: one side's wait must not be the other's.
    static func longStreams(_ call: InteropCall) async throws {
        let count = 2000, bytes = 20_000
        let received = try await call.client.fullDuplexCall(options: InteropCall.options()) { writer, reader in
            async let sent: Void = {
                for _ in 0..<count {
                    try await writer.write(InteropCall.outputRequest(sending: bytes, asking: [bytes]))
                }
                writer.finish()
            }()
            let received = try await reader.reduce(0) { $0 + $1.payload.body.count }
            try await sent
            return received
        }
        try expect(received, count * bytes, "bytes")
    }

    /// A status after messages, and all of these before it.
    static func streamStatus(_ call: InteropCall) async throws {
        let options = InteropCall.options()
        let error = try await call.error {
            try await call.client.fullDuplexCall(options: options) { writer, reader in
                var responses = reader.makeAsyncIterator()
                try await writer.write(InteropCall.outputRequest(asking: [5, 6]))
                try expect(try await responses.next()?.payload.body.count, 5, "first size")
                try expect(try await responses.next()?.payload.body.count, 6, "second size")
                try await writer.write(
                    .with {
                        $0.responseStatus.code = Int32(Status.Code.dataLoss.rawValue)
                        $0.responseStatus.message = "Verloren: ß"
                    }
                )
                _ = try await responses.next()
            }
        }
        try expect(error.code, .dataLoss, "code")
        try expect(error.message, "Verloren: ß", "message")
    }
}

// MARK: - Metadata

extension InteropCase {
    private static let initialName = "x-grpc-test-echo-initial"
    private static let initialValue = "test_initial_metadata_value"
    private static let trailingName = "x-grpc-test-echo-trailing-bin"
    private static let trailingValue: [UInt8] = [0xab, 0xab, 0xab]

    private static func options(_ answer: ResponseMetadata) -> CallOptions {
        var options = InteropCall.options([initialName: initialValue])
        options.metadata.addBinary(trailingName, trailingValue)
        options.responseMetadata = answer
        return options
    }

    private static func check(_ answer: ResponseMetadata, _ what: String) throws {
        try expect(answer.initial?.all(initialName), [initialValue], "initial metadata of \(what)")
        try expect(answer.trailing?.firstBinary(trailingName), trailingValue, "trailing metadata of \(what)")
    }

    static func customMetadata(_ call: InteropCall) async throws {
        var answer = ResponseMetadata()
        var request = GrpcTesting.SimpleRequest()
        request.payload.body = Data(count: 271_828)
        request.responseSize = 314_159
        let response = try await call.client.unaryCall(request, options: options(answer))
        try expect(response.payload.body.count, 314_159, "payload")
        try check(answer, "a unary call")

        answer = ResponseMetadata()
        try await call.client.fullDuplexCall(options: options(answer)) { [answer] writer, reader in
            try await writer.write(InteropCall.outputRequest(sending: 271_828, asking: [314_159]))
            writer.finish()
            try expect(await answer.waitForInitial()?.first(initialName), initialValue, "head of a stream")
            let sizes = try await reader.reduce(into: [Int]()) { $0.append($1.payload.body.count) }
            try expect(sizes, [314_159], "sizes")
        }
        try check(answer, "a stream")
    }
}

// MARK: - Streams that end early

extension InteropCase {
    static func cancelAfterBegin(_ call: InteropCall) async throws {
        try await emptyUnary(call)  // there is a connection: the call begins at once
        let task = Task {
            try await call.client.streamingInputCall(options: InteropCall.options()) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let error = try await call.error { _ = try await task.value }
        try expect(error.code, .cancelled, "code")
        try await emptyUnary(call)
    }

    static func cancelAfterFirstResponse(_ call: InteropCall) async throws {
        let task = Task {
            try await call.client.fullDuplexCall(options: InteropCall.options()) { writer, reader in
                var responses = reader.makeAsyncIterator()
                try await writer.write(InteropCall.outputRequest(sending: 27_182, asking: [31_415]))
                try expect(try await responses.next()?.payload.body.count, 31_415, "size")
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await responses.next()
            }
        }
        let error = try await call.error { try await task.value }
        try expect(error.code, .cancelled, "code")
        try await emptyUnary(call)
    }

    static func timeoutOnSleepingServer(_ call: InteropCall) async throws {
        try await emptyUnary(call)
        let error = try await call.error {
            try await call.client.fullDuplexCall(options: CallOptions(timeout: .milliseconds(1))) { writer, reader in
                // The write may be what learns that the time is over; the reader knows why.
                try? await writer.write(InteropCall.outputRequest(sending: 27_182, asking: []))
                for try await _ in reader { throw CaseFailure("nothing was asked for") }
            }
        }
        try expect(error.code, .deadlineExceeded, "code")
        try await emptyUnary(call)
    }
}
