import OTLP

/// What became of the sampled spans of a process.
public struct TraceMetrics: MetricsSource {
    private let statistics: TraceStatistics

    /// Reports the spans of a tracer.
    public init(_ tracer: OTLPTracer) { statistics = tracer.statistics }

    /// Adds the families.
    public func write(to text: inout MetricsText) {
        text.family(
            "vestibule_trace_spans_total",
            .counter,
            help:
                "Sampled spans by what became of them: dropped for want of room, failed to be sent, rejected, exported.",
            [
                ([("outcome", "exported")], Double(statistics.exported)),
                ([("outcome", "dropped")], Double(statistics.dropped)),
                ([("outcome", "failed")], Double(statistics.failed)),
                ([("outcome", "rejected")], Double(statistics.rejected)),
            ]
        )
        text.single(
            "vestibule_trace_spans_waiting",
            .gauge,
            help: "Spans that wait to be exported.",
            Double(statistics.waiting)
        )
    }
}
