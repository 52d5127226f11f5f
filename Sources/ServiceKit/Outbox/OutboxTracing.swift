import RPC
import Tracing

/// Makes the spans of a delivery: one for each event, kind producer, inside the span of the write that made the event. So an event is
/// seen in the trace of that write until its receiver has it.
///
/// The calls of the delivery can be in one trace alone: they are in that of the first event, and the spans of all others link to it
/// (OpenTelemetry semantic conventions, "Messaging", batches).
struct OutboxTracing: Sendable {
    private let tracer: any Tracer
    private let name: String

    /// - Parameter receiver: who is told; nil where a process has one outbox.
    init(_ tracer: any Tracer, receiver: String?) {
        self.tracer = tracer
        name = receiver.map { "outbox \($0)" } ?? "outbox"
    }

    /// Delivers events within their spans.
    func deliver<Event: OutboxEvent>(_ events: [Event], _ body: () async throws -> Void) async throws {
        let spans = events.compactMap(\.trace).map(start)
        guard let first = spans.first else { return try await body() }
        for span in spans.dropFirst() {
            span.addLink(
                SpanLink(
                    context: first.context,
                    attributes: ["messaging.batch.message_count": .int64(Int64(events.count))]
                )
            )
        }
        do {
            try await ServiceContext.$current.withValue(first.context) { try await body() }
            for span in spans { span.end() }
        } catch {
            for span in spans {
                span.setStatus(SpanStatus(code: .error))
                span.end()
            }
            throw error
        }
    }

    private func start(_ trace: TraceContext) -> any Span {
        var metadata = Metadata()
        trace.add(to: &metadata)
        var parent = ServiceContext.topLevel
        tracer.extract(metadata, into: &parent, using: MetadataCarrier())
        return tracer.startSpan(name, context: parent, ofKind: .producer)
    }
}
