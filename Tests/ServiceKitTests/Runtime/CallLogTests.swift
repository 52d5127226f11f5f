import API
import Logging
import OTLP
import RPC
import Synchronization
import Testing

@testable import ServiceKit

/// Collects log entries.
private final class Recorder: Sendable {
    let events = Mutex<[(level: Logger.Level, facts: Logger.Metadata)]>([])

    struct Handler: LogHandler {
        let recorder: Recorder
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .info
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            recorder.events.withLock { $0.append((event.level, event.metadata ?? [:])) }
        }
    }
}

private struct Cause: Error, CustomStringConvertible {
    let description = "the cause"
}

struct CallLogTests {
    private func events(
        _ calls: CallLogging,
        error: RPCError?,
        service: String = "test.v1.TestService",
        tracer: OTLPTracer? = nil
    ) async -> [(level: Logger.Level, facts: Logger.Metadata)] {
        let recorder = Recorder()
        let logger = Logger(label: "test") { _ in Recorder.Handler(recorder: recorder) }
        let log = CallLog(logger: logger, calls: calls, tracer: tracer)
        let tracing = tracer.map { ServerTracing($0, address: "127.0.0.1", port: 1) }
        let interceptors: [(any ServerInterceptor)?] = [tracing, log]
        var router = Router(interceptors: interceptors.compactMap(\.self))
        let method = MethodDescriptor(service: service, method: "Check")
        router.unary(method, request: HealthV1.HealthCheckRequest.self) { _, _ in
            if let error { throw error }
            return HealthV1.HealthCheckResponse()
        }
        var request = HealthV1.HealthCheckRequest()
        request.service = "+639171234567"
        _ = try? await InProcessChannel(router).unary(
            method,
            request,
            response: HealthV1.HealthCheckResponse.self,
            options: CallOptions()
        )
        return recorder.events.withLock { $0 }
    }

    @Test func `A call is logged in one line with method, code, time and peer, and no content`() async throws {
        let event = try #require(await events(.all, error: nil).first)
        #expect(event.level == .info)
        #expect(event.facts["method"] == "/test.v1.TestService/Check")
        #expect(event.facts["code"] == "OK")
        #expect(event.facts["peer"] == "in-process")
        #expect(Set(event.facts.keys) == ["method", "code", "peer", "microseconds"])
        #expect(!"\(event.facts)".contains("639171234567"))
    }

    @Test func `A trace that begins here is logged too`() async throws {
        let tracer = OTLPTracer(OTLPConfiguration(target: "127.0.0.1:1", serviceName: "test"))
        for error in [nil, RPCError(.notFound, "x")] {
            let event = try #require(await events(.all, error: error, tracer: tracer).first)
            #expect("\(event.facts["trace"] ?? "")".count == 32)
        }
        #expect(tracer.statistics.waiting == 2)
    }

    @Test func `A server error is logged as an error with its cause, and a client's error isn't`() async throws {
        let ours = try #require(await events(.all, error: RPCError(.internalError, "x", cause: Cause())).first)
        #expect(ours.level == .error)
        #expect(ours.facts["cause"] == "the cause")
        let theirs = try #require(
            await events(.failures, error: RPCError(.invalidArgument, "x", cause: Cause())).first
        )
        #expect(theirs.level == .info)
        #expect(theirs.facts["cause"] == nil)
        let lack = try #require(await events(.failures, error: RPCError(.unavailable, "x", cause: Cause())).first)
        #expect(lack.level == .warning)
    }

    @Test func `A stream is logged when it has ended, and health streams are not`() async throws {
        let recorder = Recorder()
        let logger = Logger(label: "test") { _ in Recorder.Handler(recorder: recorder) }
        var router = Router(interceptors: [CallLog(logger: logger, calls: .all)])
        let services = ["test.v1.TestService", HealthMethods.serviceName]
        for method in services.map({ MethodDescriptor(service: $0, method: "Stream", kind: .serverStreaming) }) {
            router.serverStreaming(method) {
                (request: HealthV1.HealthCheckRequest, _: MessageWriter<HealthV1.HealthCheckResponse>, _) in
                if request.service == "fail" { throw RPCError(.dataLoss, "x", cause: Cause()) }
            }
        }
        for method in router.methods.map(\.descriptor) {
            for service in ["", "fail"] {
                var request = HealthV1.HealthCheckRequest()
                request.service = service
                try? await InProcessChannel(router).serverStreaming(
                    method,
                    request,
                    response: HealthV1.HealthCheckResponse.self,
                    options: CallOptions()
                ) { reader in for try await _ in reader {} }
            }
        }
        let events = recorder.events.withLock { $0 }
        #expect(events.map { $0.facts["code"] } == ["OK", "DATA_LOSS"])
        #expect(events.map(\.level) == [.info, .error])
        #expect(events.allSatisfy { $0.facts["method"] == "/test.v1.TestService/Stream" })
    }

    @Test func `Calls below the configured level aren't logged`() async {
        #expect(await events(.failures, error: nil).isEmpty)
        #expect(await events(.all, error: nil, service: HealthMethods.serviceName).isEmpty)
        #expect(await events(.all, error: RPCError(.notFound, "x"), service: HealthMethods.serviceName).count == 1)
        #expect(await events(.none, error: nil).isEmpty)
        #expect(await events(.none, error: RPCError(.internalError, "x")).isEmpty)
    }
}

struct CallLogIdentityTests {
    /// A call whose peer has a certificate.
    private final class Call: ServerCall, @unchecked Sendable {
        // Sendable like its superclass: no state is added.
    }

    @Test
    func `The peer's certificate name and the trace are logged, and nothing else of the metadata`() async throws {
        let recorder = Recorder()
        let log = CallLog(logger: Logger(label: "test") { _ in Recorder.Handler(recorder: recorder) }, calls: .all)
        let call = Call(
            method: MethodDescriptor(service: "test.v1.TestService", method: "Check"),
            metadata: Metadata([
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "x-request-id": "jane.doe@example.com",
            ]),
            deadline: nil,
            peer: PeerInfo(
                address: "127.0.0.1:1",
                isEncrypted: true,
                certificateNames: ["spiffe://example.com/gateway", "gateway"]
            )
        )
        _ = try await log.intercept(HealthV1.HealthCheckRequest(), ServerContext(call)) { _, _ in
            HealthV1.HealthCheckResponse()
        }
        let facts = try #require(recorder.events.withLock { $0.first?.facts })
        #expect(Set(facts.keys) == ["method", "code", "peer", "microseconds", "identity", "trace"])
        #expect(facts["identity"] == "spiffe://example.com/gateway")
        #expect(facts["trace"] == "0af7651916cd43dd8448eb211c80319c")
        #expect(!"\(facts)".contains("jane"))
    }
}
