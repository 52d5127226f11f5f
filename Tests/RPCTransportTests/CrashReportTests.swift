import Foundation
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// What a process that crashes leaves behind.
struct CrashReportTests {
    typealias Number = Google_Protobuf_Int64Value

    /// Adds one to the number, which traps for the largest; and a method that waits.
    private struct Fragile: RPCService {
        static let add = MethodDescriptor(service: "vestibule.test.v1.Fragile", method: "Add")
        static let wait = MethodDescriptor(service: "vestibule.test.v1.Fragile", method: "Wait")

        func register(in router: inout Router) {
            router.unary(Self.add) { (request: Number, _) -> Number in
                // After a wait, so that the task has been away from its thread.
                await Task.yield()
                return .with { $0.value = request.value + 1 }
            }
            router.unary(Self.wait) { (request: Number, _) -> Number in
                try await Task.sleep(for: .seconds(30))
                return request
            }
        }
    }

    /// Serves, and crashes on a call while another one is in flight.
    static func crash(reportPath: String) async throws {
        try CrashReporter.install(
            program: "test",
            version: "1.2.3",
            logDescriptor: 2,
            writesJSON: true,
            reportPath: reportPath
        )
        try await withEventLoopGroup(loopCount: 1, name: "crash") { group in
            var router = Router()
            router.add(Fragile())
            let server = RPCServer(
                group: group,
                router: router,
                configuration: ServerConfiguration(host: "127.0.0.1", port: 0)
            )
            let port = try await server.start()
            let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group)
            var waiting = CallOptions(timeout: .seconds(10))
            waiting.metadata.add("x-request-id", "waiting-1")
            var fatal = CallOptions(timeout: .seconds(10))
            fatal.metadata.add("x-request-id", "fatal-2")
            async let first = channel.unary(Fragile.wait, Number(), response: Number.self, options: waiting)
            try await Task.sleep(for: .milliseconds(200))
            let largest = Number.with { $0.value = .max }
            _ = try await channel.unary(Fragile.add, largest, response: Number.self, options: fatal)
            _ = try await first
        }
    }

    @Test func `A crash names the call that it happened in, and those beside it`() async throws {
        let path: String = FileManager.default.temporaryDirectory.path + "/vestibule-crash-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [path = path as String] in
            try await CrashReportTests.crash(reportPath: path)
        }
        let result = try #require(outcome)
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.contains(#""message":"crashed""#) })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["level"] as? String == "critical" && object["logger"] as? String == "test")
        #expect(object["method"] as? String == "/vestibule.test.v1.Fragile/Add")
        #expect(object["request_id"] as? String == "fatal-2" && object["in_flight_count"] as? Int == 2)
        let inFlight = try #require(object["in_flight"] as? [[String: String]])
        #expect(Set(inFlight.map { $0["request_id"] }) == ["waiting-1", "fatal-2"])
        let report = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(report.contains("running /vestibule.test.v1.Fragile/Add fatal-2") && report.last == "end")
        #expect(report.contains("call /vestibule.test.v1.Fragile/Wait waiting-1"))
        #expect(report.contains { $0.hasPrefix("signal SIGILL") || $0.hasPrefix("signal SIGTRAP") })
    }
}
