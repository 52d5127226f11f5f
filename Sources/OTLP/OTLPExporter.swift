import Logging
import RPC
import RPCTransport
import ServiceLifecycle

/// Sends the spans of a tracer to a collector by OTLP over gRPC, in batches.
///
/// `run` works on an event loop, until the graceful shutdown of its service group or the cancellation of its task. Then it
/// sends the remaining spans, for `flushLimit` at most, and returns. Calls never wait for it: if the queue is full, because the
/// collector is down or slow, spans are dropped and counted (`TraceStatistics`).
///
/// A batch is one call. It is retried by `ExportRetry`, with growing waits, for the configuration's `exportTimeout` at most;
/// then its spans count as failed. Calls to the collector have no spans.
public final class OTLPExporter: Service {
    /// The maximum time of the last exports at the end.
    public static let flushLimit: Duration = .seconds(3)
    /// How often it checks the number of waiting spans. With the default queue that suffices for 40,000 spans per second.
    static let pollInterval: Duration = .milliseconds(50)
    /// The number of encoded spans after which it yields to other tasks on its loop.
    static let encodedSpansMax = 32

    private let tracer: OTLPTracer
    private let loop: EventLoop
    private let channel: RPCChannel
    private let logger: Logger

    /// An exporter on one of the group's loops. It connects when there are spans. Throws `TransportError` if the target or a
    /// certificate can't be used.
    public init(_ tracer: OTLPTracer, group: EventLoopGroup, logger: Logger) throws {
        var configuration = ChannelConfiguration(tls: tracer.configuration.tls)
        configuration.tracer = nil
        self.tracer = tracer
        self.logger = logger
        loop = group.next()
        channel = try RPCChannel(target: tracer.configuration.target, group: group, configuration: configuration)
    }

    /// Exports until the shutdown; see above. Never throws.
    public func run() async {
        // Separate tasks: the cancellation of the first must not keep the last spans from being sent.
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

    /// Spans from the queue, and the log of earlier exports.
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

    /// Sends the remaining spans as far as possible.
    private func flush(_ rest: Work) async -> Work {
        var work = rest
        let end = Deadline.after(Self.flushLimit)
        repeat {
            tracer.queue.take(into: &work.spans)
            // A list that a thread is adding to is taken the next time.
            if work.spans.isEmpty { await Task.yield() } else { await exportFirst(&work, until: end) }
        } while !end.hasPassed && (!work.spans.isEmpty || tracer.queue.count > 0)
        return work
    }

    /// Sends the first batch. It stays in place if the task is cancelled meanwhile, so the collector may get it twice.
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
