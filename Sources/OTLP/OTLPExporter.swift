import Logging
import RPC
import RPCTransport
import ServiceLifecycle

/// Sends the spans of a tracer to a collector by OTLP over gRPC, in batches.
///
/// `run` works on an event loop, until the graceful shutdown of its service group or the cancellation of its task; then it
/// sends what is left, for `flushLimit` at most, and returns. Nobody waits for it meanwhile: spans that find the queue full,
/// because the collector is down or slow, are dropped and counted (`TraceStatistics`).
///
/// A batch is one call. It is tried again as `ExportRetry` says, with growing waits, and at most for the configuration's
/// `exportTimeout`; then its spans count as failed. Calls to the collector have no spans.
public final class OTLPExporter: Service {
    /// How long the end may take.
    public static let flushLimit: Duration = .seconds(3)
    /// How often it looks at how many spans wait. With the default queue that is enough for 40,000 spans a second.
    static let pollInterval: Duration = .milliseconds(50)
    /// After so many spans that it has encoded it lets others on its loop go first.
    static let encodedSpansMax = 32

    private let tracer: OTLPTracer
    private let loop: EventLoop
    private let channel: RPCChannel
    private let logger: Logger

    /// An exporter on one of the group's loops. Nothing is connected before there are spans. Throws `TransportError` for a
    /// target or a certificate that cannot be used.
    public init(_ tracer: OTLPTracer, group: EventLoopGroup, logger: Logger) throws {
        var configuration = ChannelConfiguration(tls: tracer.configuration.tls)
        configuration.tracer = nil
        self.tracer = tracer
        self.logger = logger
        loop = group.next()
        channel = try RPCChannel(target: tracer.configuration.target, group: group, configuration: configuration)
    }

    /// Exports until it is told to end; see above. Never throws.
    public func run() async {
        // Tasks of their own: what ends the first must not keep the last spans from being sent.
        let export = Task(executorPreference: loop) { await self.exportUntilCancelled() }
        var rest = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await export.value
            } onGracefulShutdown: {
                export.cancel()
            }
        } onCancel: {
            export.cancel()
        }
        rest = await Task(executorPreference: loop) { [rest] in await self.flush(rest) }.value
        if !rest.spans.isEmpty { give(up: rest.spans.count) }
        await channel.close()
    }

    /// Spans that were taken from the queue, and what was told of those before.
    private struct Work: Sendable {
        var spans: [OTLPSpan] = []
        var log: ExportLog
    }

    private func exportUntilCancelled() async -> Work {
        let configuration = tracer.configuration
        var work = Work(log: ExportLog(logger))
        var lastExport = Deadline.now()
        while !Task.isCancelled {
            try? await Task.sleep(for: min(Self.pollInterval, configuration.scheduleDelay))
            tracer.queue.take(into: &work.spans)
            let isDue = Deadline.now() >= lastExport + configuration.scheduleDelay
            guard isDue || work.spans.count >= configuration.batchSpansMax else { continue }
            while !Task.isCancelled, work.spans.count >= (isDue ? 1 : configuration.batchSpansMax) {
                await exportFirst(&work, until: .after(configuration.exportTimeout))
            }
            lastExport = .now()
        }
        return work
    }

    /// Sends what is left as far as it can be.
    private func flush(_ rest: Work) async -> Work {
        var work = rest
        let end = Deadline.after(Self.flushLimit)
        repeat {
            tracer.queue.take(into: &work.spans)
            // A list that a thread was just adding to is there the next time.
            if work.spans.isEmpty { await Task.yield() } else { await exportFirst(&work, until: end) }
        } while !end.hasPassed && (!work.spans.isEmpty || tracer.queue.count > 0)
        return work
    }

    /// Sends the first batch. It stays where the task is cancelled meanwhile: then it may come to the collector twice.
    private func exportFirst(_ work: inout Work, until end: Deadline) async {
        let batch = Array(work.spans.prefix(tracer.configuration.batchSpansMax))
        let result = await export(batch, until: end)
        if Task.isCancelled, case .failure = result { return }
        work.spans.removeFirst(batch.count)
        tracer.queue.release(batch.count)
        switch result {
        case .success(let answer):
            let rejected = min(max(answer.partialSuccess.rejectedSpans, 0), Int64(batch.count))
            tracer.statistics.count(exported: batch.count - Int(rejected), rejected: Int(rejected))
            work.log.succeeded()
            if answer.hasPartialSuccess, rejected > 0 || !answer.partialSuccess.errorMessage.isEmpty {
                work.log.partlyTaken(rejectedCount: rejected, message: answer.partialSuccess.errorMessage)
            }
        case .failure(let error):
            tracer.statistics.count(failed: batch.count)
            work.log.failed(error, spanCount: batch.count)
        }
    }

    private func give(up count: Int) {
        tracer.queue.release(count)
        tracer.statistics.count(failed: count)
        logger.warning("spans were not exported before the end", metadata: ["spans": .stringConvertible(count)])
    }

    private typealias Answer = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse

    private func export(_ batch: [OTLPSpan], until end: Deadline) async -> Result<Answer, RPCError> {
        let request = await encode(batch)
        var attempts = 0
        while true {
            attempts += 1
            let configuration = tracer.configuration
            var options = CallOptions(
                deadline: min(end, .after(configuration.attemptTimeout)),
                metadata: configuration.headers
            )
            options.compressesRequest = configuration.compresses
            do throws(RPCError) {
                return .success(
                    try await channel.unary(
                        TraceServiceMethods.export,
                        request,
                        response: Answer.self,
                        options: options
                    )
                )
            } catch {
                let wait = ExportRetry.wait(
                    after: error.code,
                    attempts: attempts,
                    timeLeft: end.remaining,
                    chance: .random(in: 0...1)
                )
                guard let wait, !Task.isCancelled else { return .failure(error) }
                try? await Task.sleep(for: wait)
            }
        }
    }

    private func encode(_ batch: [OTLPSpan]) async -> SpanEncoding.Request {
        var messages: [SpanEncoding.Message] = []
        messages.reserveCapacity(batch.count)
        for span in batch {
            messages.append(SpanEncoding.message(span))
            if messages.count.isMultiple(of: Self.encodedSpansMax) { await Task.yield() }
        }
        return SpanEncoding.request(resource: tracer.configuration.resource, spans: messages)
    }
}

extension Deadline {
    fileprivate static func + (left: Deadline, right: Duration) -> Deadline {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.wholeNanoseconds)
        return Deadline(nanoseconds: overflow ? .max : sum)
    }
}
