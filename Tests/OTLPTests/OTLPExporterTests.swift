import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import Synchronization
import TestCertificates
import TestWaits
import Testing
import Tracing

@testable import OTLP

/// The exporter against a collector on a real socket.
@Suite(.timeLimit(.minutes(5)))
struct OTLPExporterTests {
    /// An exporter that runs beside the body, and is cancelled after it.
    private func withExporter(
        _ script: [Collector.Answer] = [],
        tls: TLSConfiguration? = nil,
        isCollectorThere: Bool = true,
        configure: (inout OTLPConfiguration) -> Void = { _ in },
        _ body: (OTLPTracer, Collector, Lines) async throws -> Void,
        after: (OTLPTracer, Collector, Lines) async throws -> Void = { _, _, _ in }
    ) async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "export")
        let collector = Collector(script, tls: tls, group: group)
        let port = try await collector.start()
        if !isCollectorThere { await collector.stop() }
        var configuration = OTLPConfiguration(target: "127.0.0.1:\(port)", serviceName: "vestibule-test")
        configuration.scheduleDelay = .milliseconds(20)
        configure(&configuration)
        let tracer = OTLPTracer(configuration)
        let lines = Lines()
        let logger = Logger(label: "test") { _ in lines.handler }
        let exporter = try OTLPExporter(tracer, group: group, logger: logger)
        let run = Task { await exporter.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(tracer, collector, lines)) } catch { result = .failure(error) }
        run.cancel()
        await run.value
        let last: Result<Void, any Error>
        do { last = .success(try await after(tracer, collector, lines)) } catch { last = .failure(error) }
        await collector.stop()
        await group.shutdown()
        try result.get()
        try last.get()
    }

    private func end(_ count: Int, of tracer: OTLPTracer) {
        for number in 0..<count { tracer.startSpan("span \(number)", context: .topLevel, ofKind: .server).end() }
    }

    @Test func `Spans come with the resource and the headers`() async throws {
        try await withExporter {
            $0.headers.add("api-key", "hidden")
            $0.compresses = true
            $0.resource["deployment.environment.name"] = "test"
        } _: { tracer, collector, lines in
            end(40, of: tracer)
            try await eventually { tracer.statistics.exported == 40 }
            #expect(Set(collector.spans.map(\.name)) == Set((0..<40).map { "span \($0)" }))
            let resource = collector.requests[0].resourceSpans[0].resource.attributes
            #expect(resource.map(\.key) == ["deployment.environment.name", "service.name"])
            #expect(resource.map(\.value.stringValue) == ["test", "vestibule-test"])
            #expect(collector.metadata.allSatisfy { $0.first("api-key") == "hidden" })
            #expect(collector.metadata.allSatisfy { $0.first("traceparent") == nil }, "exports have no spans")
            #expect(collector.wasCompressed.contains(true))
            #expect(tracer.statistics.waiting == 0 && lines.texts.isEmpty)
        }
    }

    @Test func `A full batch does not wait`() async throws {
        try await withExporter {
            $0.scheduleDelay = .seconds(600)
            $0.batchSpansMax = 10
        } _: { tracer, collector, _ in
            end(25, of: tracer)
            try await eventually { tracer.statistics.exported == 20 }
            #expect(collector.requests.count == 2 && tracer.statistics.waiting == 5)
        } after: { tracer, collector, _ in
            #expect(collector.spans.count == 25, "the last are sent at the end")
            #expect(tracer.statistics.exported == 25 && tracer.statistics.waiting == 0)
        }
    }

    @Test func `A collector that is down for a moment gets the spans later`() async throws {
        try await withExporter([.fail(.unavailable), .fail(.unavailable)]) { tracer, collector, lines in
            end(3, of: tracer)
            try await eventually { tracer.statistics.exported == 3 }
            #expect(collector.attempts == 3 && collector.spans.count == 3 && lines.texts.isEmpty)
        }
    }

    @Test(arguments: [Status.Code.invalidArgument, .unimplemented, .resourceExhausted, .unauthenticated])
    func `Spans that the collector refuses are not sent again`(code: Status.Code) async throws {
        try await withExporter([.fail(code)]) { tracer, collector, lines in
            end(3, of: tracer)
            try await eventually { tracer.statistics.failed == 3 }
            end(1, of: tracer)
            // The line is written after the count.
            try await eventually { tracer.statistics.exported == 1 && lines.texts.count >= 2 }
            #expect(collector.attempts == 2)
            #expect(lines.texts == ["spans could not be exported", "spans are exported again"])
        }
    }

    @Test func `A partial success is counted and logged`() async throws {
        let script = [Collector.Answer.partly(rejected: 2, message: "too old")]
        try await withExporter(script) { tracer, collector, lines in
            end(5, of: tracer)
            try await eventually { tracer.statistics.exported == 3 && !lines.texts.isEmpty }
            #expect(tracer.statistics.rejected == 2 && collector.attempts == 1)
            #expect(lines.texts == ["the collector refused spans, or warns"])
        }
    }

    /// The collector has a certificate and requires one.
    @Test func `A collector behind mutual TLS`() async throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        var server = try authority.issue("server", names: "IP:127.0.0.1")
        server.authoritiesFile = authority.file
        var client = try authority.issue("client", names: "DNS:vestibule")
        client.authoritiesFile = authority.file
        let files = client
        try await withExporter(tls: server) {
            $0.tls = files
        } _: { tracer, collector, _ in
            end(3, of: tracer)
            try await eventually { tracer.statistics.exported == 3 }
            #expect(collector.spans.count == 3)
        }
        try await withExporter(tls: server) {
            $0.tls = TLSConfiguration(authoritiesFile: files.authoritiesFile)
        } _: { tracer, _, _ in
            end(3, of: tracer)
        } after: { tracer, collector, _ in
            #expect(tracer.statistics.failed == 3 && collector.attempts == 0, "without a certificate")
        }
    }

    /// Nothing waits for a collector that is down: the queue fills, and further spans are counted.
    @Test func `A collector that is down costs only spans`() async throws {
        try await withExporter(isCollectorThere: false) {
            $0.queueSpansMax = 100
            $0.batchSpansMax = 10
        } _: { tracer, _, _ in
            let begin = ContinuousClock.now
            end(1000, of: tracer)
            #expect(.now - begin < .seconds(30), "waiting for the collector with each span would take far longer")
            let statistics = tracer.statistics
            #expect(statistics.dropped >= 880 && statistics.waiting <= 110)
        } after: { tracer, _, lines in
            let statistics = tracer.statistics
            #expect(statistics.dropped + statistics.failed == 1000 && statistics.exported == 0)
            #expect(statistics.waiting == 0)
            #expect(!lines.texts.isEmpty, "and it is logged")
        }
    }

    /// The stop is bounded, whatever the collector does.
    @Test func `A collector that never answers delays the stop for a moment`() async throws {
        let begin = Mutex(ContinuousClock.now)
        try await withExporter(Array(repeating: .never, count: 100)) { tracer, collector, _ in
            end(10, of: tracer)
            try await eventually { collector.attempts == 1 }
            begin.withLock { $0 = .now }
        } after: { tracer, _, _ in
            #expect(begin.withLock { .now - $0 } < OTLPExporter.flushLimit + .seconds(30))
            #expect(tracer.statistics.failed == 10 && tracer.statistics.waiting == 0)
        }
    }

    @Test func `A graceful shutdown sends the last spans`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "export")
        let collector = Collector(group: group)
        let port = try await collector.start()
        let tracer = OTLPTracer(OTLPConfiguration(target: "127.0.0.1:\(port)", serviceName: "x"))
        let exporter = try OTLPExporter(tracer, group: group, logger: Logger(label: "test"))
        let services = ServiceGroup(services: [exporter], logger: Logger(label: "test"))
        let run = Task { try await services.run() }
        end(7, of: tracer)
        try await Task.sleep(for: .milliseconds(20))
        await services.triggerGracefulShutdown()
        try await run.value
        #expect(collector.spans.count == 7)
        await collector.stop()
        await group.shutdown()
    }

    @Test func `Waits grow and end`() {
        func wait(_ code: Status.Code, _ attempts: Int, left: Duration = .seconds(60), chance: Double = 1) -> Duration?
        {
            ExportRetry.wait(after: code, attempts: attempts, timeLeft: left, chance: chance)
        }
        #expect((1...5).map { wait(.unavailable, $0) } == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), nil])
        #expect(wait(.unavailable, 1, chance: 0) == .milliseconds(500))
        #expect(wait(.unavailable, 3, left: .seconds(3)) == nil, "not past the batch's end")
        let worthwhile: Set<Status.Code> = [
            .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss,
        ]
        for code in Status.Code.allCases { #expect((wait(code, 1) != nil) == worthwhile.contains(code), "\(code)") }
    }
}

/// What was logged.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var texts: [String] { lines.withLock { $0 } }
    var handler: any LogHandler { Handler(lines: self) }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.message)") } }
    }
}
