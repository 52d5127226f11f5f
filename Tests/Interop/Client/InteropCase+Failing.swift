import API
import InteropAPI
import RPC

// Calls that fail.
extension InteropCase {
    static func statusCodeAndMessage(_ call: InteropCall) async throws {
        for code in Status.Code.allCases where code != .ok {
            let error = try await call.failure(code: code, message: "test status message")
            try expect(error.code, code, "code")
            try expect(error.message, "test status message", "message")
            try expect(error.statusDetails, [], "details")
        }
        let error = try await call.streamFailure(code: .unknown, message: "test status message")
        try expect(error.code, .unknown, "code of a stream")
        try expect(error.message, "test status message", "message of a stream")
    }

    static func specialStatusMessage(_ call: InteropCall) async throws {
        let message = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
        let error = try await call.failure(code: .unknown, message: message)
        try expect(error.message, message, "message")
    }

    static func richDetails(_ call: InteropCall) async throws {
        let error = try await call.failure(
            code: .ok,
            message: "Zu groß.",
            metadata: Metadata(["x-test-reason": "PAYLOAD_INVALID"])
        )
        try expect(error.code, .invalidArgument, "code")
        try expect(error.message, "Zu groß.", "message")
        try expect(error.reason, "PAYLOAD_INVALID", "reason")
        try expect(error.retryAfter, .milliseconds(1500), "retry")
        let violation = FieldViolation(
            field: "payload",
            description: "The payload is at fault.",
            reason: "PAYLOAD_INVALID"
        )
        try expect(error.fieldViolations, [violation], "fields")
    }

    static func errorMetadata(_ call: InteropCall) async throws {
        let name = "x-grpc-test-echo-trailing-bin"
        let value: [UInt8] = [0xab, 0xab, 0xab, 0x00, 0xff]
        var metadata = Metadata()
        metadata.addBinary(name, value)
        let error = try await call.failure(code: .aborted, message: "", metadata: metadata)
        try expect(error.metadata.firstBinary(name), value, "trailing metadata")
    }

    static func unimplementedMethod(_ call: InteropCall) async throws {
        let error = try await call.error {
            _ = try await call.client.unimplementedCall(GrpcTesting.Empty(), options: InteropCall.options())
        }
        try expect(error.code, .unimplemented, "code")
    }

    static func unimplementedService(_ call: InteropCall) async throws {
        let error = try await call.error {
            _ = try await UnimplementedServiceClient(call.channel)
                .unimplementedCall(GrpcTesting.Empty(), options: InteropCall.options())
        }
        try expect(error.code, .unimplemented, "code")
    }

    static func answerTooLarge(_ call: InteropCall) async throws {
        let error = try await call.error { _ = try await call.payloadSize(asking: 5 << 20) }
        try expect(error.code, .resourceExhausted, "code")
        try expect(try await call.payloadSize(asking: 5), 5, "payload afterwards")
    }

    /// For a target where nothing listens, or whose certificate isn't acceptable.
    static func unavailable(_ call: InteropCall) async throws {
        let error = try await call.error { _ = try await call.payloadSize(asking: 1) }
        try expect(error.code, .unavailable, "code")
    }
}

// MARK: - Calls that end early

extension InteropCase {
    private static let slow: KeyValuePairs = ["x-test-delay-ms": "20000"]

    static func deadline(_ call: InteropCall) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let error = try await call.error {
            let options = CallOptions(timeout: .milliseconds(200), metadata: Metadata(Self.slow))
            _ = try await call.client.unaryCall(GrpcTesting.SimpleRequest(), options: options)
        }
        try expect(error.code, .deadlineExceeded, "code")
        let elapsed = clock.now - start
        try expect(elapsed > .milliseconds(150) && elapsed < .seconds(5), true, "ended after \(elapsed), in time")
    }

    /// The server reports in a trailer whether the call had a deadline.
    static func noDeadline(_ call: InteropCall) async throws {
        for (options, wanted) in [(CallOptions(deadline: .never), "none"), (InteropCall.options(), "some")] {
            var options = options
            let metadata = ResponseMetadata()
            options.responseMetadata = metadata
            _ = try await call.client.emptyCall(GrpcTesting.Empty(), options: options)
            try expect(metadata.trailing?.first("x-test-deadline"), wanted, "the deadline that the server received")
        }
        var request = InteropCall.outputRequest(asking: [1, 2])
        request.responseParameters[1].intervalUs = 10_000
        let sent = request
        let sizes = try await call.client.fullDuplexCall(options: CallOptions(deadline: .never)) { writer, reader in
            try await writer.write(sent)
            writer.finish()
            return try await reader.reduce(into: []) { $0.append($1.payload.body.count) }
        }
        try expect(sizes, [1, 2], "sizes of the answers")
    }

    static func cancellation(_ call: InteropCall) async throws {
        let task = Task {
            try await call.client.unaryCall(GrpcTesting.SimpleRequest(), options: InteropCall.options(Self.slow))
        }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        let error = try await call.error { _ = try await task.value }
        try expect(error.code, .cancelled, "code")
        try expect(try await call.payloadSize(asking: 5), 5, "payload afterwards")
    }
}
