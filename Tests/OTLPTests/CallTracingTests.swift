import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing
import Tracing

@testable import OTLP

/// The spans of calls over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct CallTracingTests {
    private typealias Text = Google_Protobuf_StringValue
    private typealias Message = SpanEncoding.Message

    private static let outer = MethodDescriptor(service: "test.v1.Outer", method: "Call", isIdempotent: true)
    private static let inner = MethodDescriptor(service: "test.v1.Inner", method: "Read", isIdempotent: true)
    private static let stream = MethodDescriptor(service: "test.v1.Inner", method: "List", kind: .serverStreaming)
    private static let health = MethodDescriptor(service: "grpc.health.v1.Health", method: "Check")

    private struct Fixture {
        let tracer: OTLPTracer
        let channel: RPCChannel
        let port: Int
        let traceOfHandler: @Sendable () -> String?

        /// The spans that have ended so far, once there are that many.
        func spans(_ count: Int) async throws -> [Message] {
            try await eventually { tracer.queue.count >= count }
            var spans: [OTLPSpan] = []
            tracer.queue.take(into: &spans)
            tracer.queue.release(spans.count)
            return spans.map(SpanEncoding.message)
        }

        func call(_ method: MethodDescriptor, _ text: String, _ options: CallOptions = CallOptions()) async throws {
            _ = try await channel.unary(method, Text.with { $0.value = text }, response: Text.self, options: options)
        }
    }

    private func withFixture(
        failures: Int = 0,
        sampler: TraceSampler = .parentBased(.alwaysOn),
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "spans")
        var settings = OTLPConfiguration(target: "127.0.0.1:1", serviceName: "test")
        settings.sampler = sampler
        let tracer = OTLPTracer(settings)
        var configuration = ChannelConfiguration()
        configuration.tracer = tracer
        configuration.retry.backoffFirst = .milliseconds(1)
        let onward = Mutex<RPCChannel?>(nil)
        let left = Mutex(failures)
        let traceOfHandler = Mutex<String?>(nil)
        var router = Router(interceptors: [ServerTracing(tracer, address: "127.0.0.1", port: 7)])
        router.unary(Self.inner) { (request: Text, context) -> Text in
            let fails = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            if fails { throw RPCError(.unavailable, "not yet") }
            traceOfHandler.withLock { $0 = TraceContext.current(of: tracer)?.traceID }
            if request.value == "sleep" { try await Task.sleep(for: .seconds(30)) }
            if request.value == "refuse" { throw RPCError(.notFound, "+639171234567") }
            return request
        }
        router.unary(Self.outer) { (request: Text, context) -> Text in
            let channel = try #require(onward.withLock { $0 })
            return try await channel.unary(Self.inner, request, response: Text.self, options: CallOptions())
        }
        router.unary(Self.health) { (request: Text, _) -> Text in request }
        router.serverStreaming(Self.stream) { (request: Text, writer: MessageWriter<Text>, _) in
            try await writer.write(request)
            if request.value == "break" { throw RPCError(.internalError, "broken") }
        }
        let server = RPCServer(group: group, router: router, configuration: ServerConfiguration())
        let port = try await server.start()
        let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: configuration)
        onward.withLock { $0 = channel }
        let fixture = Fixture(
            tracer: tracer,
            channel: channel,
            port: port,
            traceOfHandler: { traceOfHandler.withLock { $0 } }
        )
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await channel.close()
        await server.shutdown()
        await group.shutdown()
        try result.get()
    }

    private func attributes(_ span: Message) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: span.attributes.map { attribute in
                let value = attribute.value
                return (attribute.key, value.stringValue.isEmpty ? "\(value.intValue)" : value.stringValue)
            }
        )
    }

    /// Client, server, and the client and server of the call that the handler makes: each inside the one before.
    @Test func `Calls of calls are one trace`() async throws {
        try await withFixture { fixture in
            try await fixture.call(Self.outer, "private words")
            let spans = try await fixture.spans(4)
            let roots = spans.filter { $0.parentSpanID.isEmpty }
            var chain = [try #require(roots.first)]
            while let next = spans.first(where: { $0.parentSpanID == chain[chain.count - 1].spanID }) {
                chain.append(next)
            }
            #expect(roots.count == 1 && chain.count == 4 && Set(spans.map(\.traceID)).count == 1)
            #expect(chain.map(\.kind) == [.client, .server, .client, .server])
            #expect(
                chain.map(\.name) == [
                    "test.v1.Outer/Call", "test.v1.Outer/Call", "test.v1.Inner/Read", "test.v1.Inner/Read",
                ]
            )
            #expect(
                attributes(chain[0]) == [
                    "rpc.system": "grpc", "rpc.service": "test.v1.Outer", "rpc.method": "Call",
                    "rpc.grpc.status_code": "0", "server.address": "127.0.0.1", "server.port": "\(fixture.port)",
                ]
            )
            #expect(attributes(chain[3])["server.port"] == "7" && attributes(chain[3])["rpc.grpc.status_code"] == "0")
            #expect(chain.allSatisfy { !$0.hasStatus }, "what went well says nothing")
            #expect(
                fixture.traceOfHandler()
                    == chain[0].traceID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            )
            #expect(!spans.contains { "\($0)".contains("private words") })
        }
    }

    @Test func `Errors are of the side that they are errors to`() async throws {
        try await withFixture { fixture in
            await #expect(throws: RPCError.self) { try await fixture.call(Self.inner, "refuse") }
            let spans = try await fixture.spans(2)
            let server = try #require(spans.first { $0.kind == .server })
            let client = try #require(spans.first { $0.kind == .client })
            #expect(client.status.code == .error && attributes(client)["error.type"] == "NOT_FOUND")
            #expect(!server.hasStatus && attributes(server)["rpc.grpc.status_code"] == "5")
            #expect(!spans.contains { "\($0)".contains("639171234567") }, "messages are not recorded")
        }
    }

    @Test func `A deadline ends both`() async throws {
        try await withFixture { fixture in
            await #expect(throws: RPCError.self) {
                // Long enough to reach the server, also on a busy machine.
                try await fixture.call(Self.inner, "sleep", CallOptions(timeout: .seconds(2)))
            }
            let spans = try await fixture.spans(2)
            let client = try #require(spans.first { $0.kind == .client })
            #expect(client.status.code == .error && attributes(client)["rpc.grpc.status_code"] == "4")
            // The client's clock runs out first: on a busy machine its cancellation reaches the server before the server's own deadline.
            let server = try #require(spans.first { $0.kind == .server })
            #expect(["4", "1"].contains(attributes(server)["rpc.grpc.status_code"]))
        }
    }

    @Test func `Attempts are events of one span`() async throws {
        try await withFixture(failures: 2) { fixture in
            try await fixture.call(Self.inner, "x")
            let spans = try await fixture.spans(4)
            let clients = spans.filter { $0.kind == .client }
            #expect(clients.count == 1 && spans.count == 4, "the server sees three calls")
            #expect(clients[0].events.map(\.name) == ["retry", "retry"] && !clients[0].hasStatus)
            #expect(
                clients[0].events.allSatisfy {
                    $0.attributes.contains { $0.key == "rpc.grpc.status_code" && $0.value.intValue == 14 }
                }
            )
            #expect(spans.filter { $0.kind == .server }.allSatisfy { $0.parentSpanID == clients[0].spanID })
        }
    }

    @Test func `Streams have spans until they end`() async throws {
        try await withFixture { fixture in
            for text in ["whole", "break"] {
                try? await fixture.channel.serverStreaming(
                    Self.stream,
                    Text.with { $0.value = text },
                    response: Text.self,
                    options: CallOptions()
                ) { reader in for try await _ in reader {} }
                let spans = try await fixture.spans(2)
                #expect(Set(spans.map(\.kind)) == [.client, .server] && Set(spans.map(\.traceID)).count == 1)
                #expect(spans.allSatisfy { ($0.status.code == .error) == (text == "break") }, "\(text)")
            }
        }
    }

    /// A parent that another hand wrote into the metadata, a client of another make for instance.
    @Test func `The parent comes from the metadata`() async throws {
        try await withFixture { fixture in
            let metadata = Metadata(["traceparent": OTLPTracerTests.inbound])
            try await fixture.call(Self.inner, "x", CallOptions(metadata: metadata))
            let spans = try await fixture.spans(2)
            #expect(spans.allSatisfy { $0.traceID.starts(with: [0x0a, 0xf7, 0x65]) })
            #expect(spans.first { $0.kind == .client }?.parentSpanID.first == 0xb7)
        }
    }

    @Test func `Neither health nor what is not sampled has spans`() async throws {
        try await withFixture { fixture in
            try await fixture.call(Self.health, "x")
            try await fixture.call(Self.inner, "x")
            #expect(try await fixture.spans(2).allSatisfy { $0.name == "test.v1.Inner/Read" })
        }
        try await withFixture(sampler: .parentBased(.alwaysOff)) { fixture in
            try await fixture.call(Self.outer, "x")
            #expect(fixture.tracer.queue.count == 0)
            #expect(fixture.traceOfHandler() != nil, "logs have a trace all the same")
        }
    }
}
