import RPC
import Synchronization
import Tracing

/// A tracer for swift-distributed-tracing whose spans an `OTLPExporter` sends to a collector. Any thread.
///
/// Contexts are propagated between processes by W3C Trace Context: `traceparent` and `tracestate`.
public final class OTLPTracer: Tracer {
    /// The configuration of the export.
    public let configuration: OTLPConfiguration
    /// The outcomes of spans.
    public let statistics: TraceStatistics
    let queue: SpanQueue

    /// A tracer; its spans wait until an exporter runs.
    public init(_ configuration: OTLPConfiguration) {
        self.configuration = configuration
        queue = SpanQueue(capacity: configuration.queueSpansMax)
        statistics = TraceStatistics(queue)
    }

    /// Starts a child of the context's span, or a new trace. The sampler decides whether it is recorded.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.spanIdentity
        let traceLow = parent?.traceLow ?? .random(in: 1 ... .max)
        let identity = SpanIdentity(
            traceHigh: parent?.traceHigh ?? .random(in: 0 ... .max),
            traceLow: traceLow,
            spanID: .random(in: 1 ... .max),
            isSampled: configuration.sampler.samples(traceLow: traceLow, parentIsSampled: parent?.isSampled),
            state: parent?.state ?? ""
        )
        context.spanIdentity = identity
        return OTLPSpan(
            name: operationName,
            context: context,
            identity: identity,
            parent: parent,
            kind: kind,
            startNanoseconds: identity.isSampled ? instant().nanosecondsSinceEpoch : 0,
            queue: queue
        )
    }

    /// Does nothing: the exporter sends waiting spans on its own schedule, and all of them at its end.
    public func forceFlush() {}

    /// Reads the caller's span, strictly; a malformed one is ignored.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: Self.parentName, from: carrier) else { return }
        var metadata = Metadata()
        metadata.add(Self.parentName, parent)
        if let state = extractor.extract(key: Self.stateName, from: carrier) { metadata.add(Self.stateName, state) }
        guard let trace = TraceContext(metadata), let identity = SpanIdentity(trace) else { return }
        context.spanIdentity = identity
    }

    /// Writes the context's span for the next process.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let identity = context.spanIdentity else { return }
        injector.inject(identity.traceParent, forKey: Self.parentName, into: &carrier)
        if !identity.state.isEmpty { injector.inject(identity.state, forKey: Self.stateName, into: &carrier) }
    }

    private static let parentName = "traceparent"
    private static let stateName = "tracestate"
}
