import InteropAPI
import RPC

// Unary calls that succeed.
extension InteropCase {
    static func emptyUnary(_ call: InteropCall) async throws {
        _ = try await call.client.emptyCall(GrpcTesting.Empty(), options: InteropCall.options())
    }

    static func largeUnary(_ call: InteropCall) async throws {
        try expect(try await call.payloadSize(sending: 271_828, asking: 314_159), 314_159, "payload")
    }

    /// More than any flow-control window: credit must be given back both ways.
    static func manyMegabytes(_ call: InteropCall) async throws {
        let megabyte = 1 << 20
        for _ in 0..<30 {
            try expect(try await call.payloadSize(sending: megabyte, asking: megabyte), megabyte, "payload")
        }
    }

    static func concurrentCalls(_ call: InteropCall) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for size in 0..<1000 {
                tasks.addTask { try expect(try await call.payloadSize(asking: size), size, "payload") }
            }
            try await tasks.waitForAll()
        }
    }
}
