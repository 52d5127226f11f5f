import RPC
import ServiceKit
import Tracing

/// Makes the spans of work: one for each item, kind producer, inside the span of the write that made the item. So an item is seen in the
/// trace of that write until it is done.
///
/// A call can be in one trace alone: it is in that of the first item, and the spans of all others link to it (OpenTelemetry semantic
/// conventions, "Messaging", batches).
struct WorkTracing: Sendable {
    private let tracer: any Tracer
    private let name: String

    init(_ tracer: any Tracer, queue: String) {
        self.tracer = tracer
        name = "work \(queue)"
    }

    /// Does work within the spans of these items.
    func perform(_ traces: [TraceContext], itemCount: Int, _ body: () async throws -> Void) async throws {
        let spans = traces.map(start)
        guard let first = spans.first else { return try await body() }
        for span in spans.dropFirst() {
            span.addLink(
                SpanLink(
                    context: first.context,
                    attributes: ["messaging.batch.message_count": .int64(Int64(itemCount))]
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
