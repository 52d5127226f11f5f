import API
import ArgumentParser
import Foundation
import InteropAPI
import RPC

/// The cases; those that gRPC describes have its names.
/// https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md
enum InteropCase: String, CaseIterable, ExpressibleByArgument {
    case emptyUnary = "empty_unary"
    case largeUnary = "large_unary"
    case manyMegabytes = "many_megabytes"
    case concurrentCalls = "concurrent_calls"
    case statusCodeAndMessage = "status_code_and_message"
    case specialStatusMessage = "special_status_message"
    case richDetails = "rich_details"
    case errorMetadata = "error_metadata"
    case unimplementedMethod = "unimplemented_method"
    case unimplementedService = "unimplemented_service"
    case deadline = "deadline"
    case cancellation = "cancellation"
    case answerTooLarge = "answer_too_large"
    case unavailable = "unavailable"

    func run(_ call: InteropCall) async throws {
        switch self {
        case .emptyUnary: _ = try await call.client.emptyCall(GrpcTesting.Empty(), options: InteropCall.options())
        case .largeUnary: try await largeUnary(call)
        case .manyMegabytes: try await manyMegabytes(call)
        case .concurrentCalls: try await concurrentCalls(call)
        case .statusCodeAndMessage: try await statusCodeAndMessage(call)
        case .specialStatusMessage: try await specialStatusMessage(call)
        case .richDetails: try await richDetails(call)
        case .errorMetadata: try await errorMetadata(call)
        case .unimplementedMethod: try await unimplementedMethod(call)
        case .unimplementedService: try await unimplementedService(call)
        case .deadline: try await deadline(call)
        case .cancellation: try await cancellation(call)
        case .answerTooLarge: try await answerTooLarge(call)
        case .unavailable: try await unavailable(call)
        }
    }
}

// MARK: - Calls that succeed

extension InteropCase {
    private func largeUnary(_ call: InteropCall) async throws {
        try expect(try await call.payloadSize(sending: 271_828, asking: 314_159), 314_159, "payload")
    }

    /// More than any flow-control window: credit must be given back both ways.
    private func manyMegabytes(_ call: InteropCall) async throws {
        let megabyte = 1 << 20
        for _ in 0..<30 {
            try expect(try await call.payloadSize(sending: megabyte, asking: megabyte), megabyte, "payload")
        }
    }

    private func concurrentCalls(_ call: InteropCall) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for size in 0..<1000 {
                tasks.addTask { try expect(try await call.payloadSize(asking: size), size, "payload") }
            }
            try await tasks.waitForAll()
        }
    }
}

// MARK: - Calls that fail

extension InteropCase {
    private func statusCodeAndMessage(_ call: InteropCall) async throws {
        for code in Status.Code.allCases where code != .ok {
            let error = try await call.failure(code: code, message: "test status message")
            try expect(error.code, code, "code")
            try expect(error.message, "test status message", "message")
            try expect(error.statusDetails, [], "details")
        }
    }

    private func specialStatusMessage(_ call: InteropCall) async throws {
        let message = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
        let error = try await call.failure(code: .unknown, message: message)
        try expect(error.message, message, "message")
    }

    private func richDetails(_ call: InteropCall) async throws {
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

    private func errorMetadata(_ call: InteropCall) async throws {
        let name = "x-grpc-test-echo-trailing-bin"
        let value: [UInt8] = [0xab, 0xab, 0xab, 0x00, 0xff]
        var metadata = Metadata()
        metadata.addBinary(name, value)
        let error = try await call.failure(code: .aborted, message: "", metadata: metadata)
        try expect(error.metadata.firstBinary(name), value, "trailing metadata")
    }

    private func unimplementedMethod(_ call: InteropCall) async throws {
        let error = try await call.error {
            _ = try await call.client.unimplementedCall(GrpcTesting.Empty(), options: InteropCall.options())
        }
        try expect(error.code, .unimplemented, "code")
    }

    private func unimplementedService(_ call: InteropCall) async throws {
        let error = try await call.error {
            _ = try await UnimplementedServiceClient(call.channel)
                .unimplementedCall(GrpcTesting.Empty(), options: InteropCall.options())
        }
        try expect(error.code, .unimplemented, "code")
    }

    private func answerTooLarge(_ call: InteropCall) async throws {
        let error = try await call.error { _ = try await call.payloadSize(asking: 5 << 20) }
        try expect(error.code, .resourceExhausted, "code")
        try expect(try await call.payloadSize(asking: 5), 5, "payload afterwards")
    }

    /// For a target where nothing listens, or whose certificate isn't acceptable.
    private func unavailable(_ call: InteropCall) async throws {
        let error = try await call.error { _ = try await call.payloadSize(asking: 1) }
        try expect(error.code, .unavailable, "code")
    }
}

// MARK: - Calls that end early

extension InteropCase {
    private static let slow: KeyValuePairs = ["x-test-delay-ms": "20000"]

    private func deadline(_ call: InteropCall) async throws {
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

    private func cancellation(_ call: InteropCall) async throws {
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
