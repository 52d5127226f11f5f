import Tracing

/// Carries the place in a trace from one process to the next in the metadata of a call.
public struct MetadataCarrier: Extractor, Injector {
    /// A carrier, which holds nothing.
    public init() {}

    /// The value of a name. Nil also for a name that comes twice although it may come once (W3C Trace Context, section 3.2);
    /// the values of `tracestate` are one list (section 3.3.1.1).
    public func extract(key: String, from metadata: Metadata) -> String? {
        let values = metadata.all(key)
        if key == TraceContext.stateName, values.count > 1 { return values.joined(separator: ",") }
        return values.count == 1 ? values[0] : nil
    }

    /// Sets the value of a name, in place of the values that it had.
    public func inject(_ value: String, forKey key: String, into metadata: inout Metadata) {
        metadata.removeAll(key)
        metadata.add(key, value)
    }
}

extension MetadataCarrier {
    /// Writes the trace context of `context` into a call's metadata, in place of what was there.
    public static func inject(_ context: ServiceContext, of tracer: any Tracer, into metadata: inout Metadata) {
        // What another hand wrote there names another span.
        metadata.removeAll(TraceContext.parentName)
        metadata.removeAll(TraceContext.stateName)
        tracer.inject(context, into: &metadata, using: MetadataCarrier())
    }
}

extension TraceContext {
    /// The trace context of this task's span, as `tracer` would send it; nil outside of spans. For logs.
    public static func current(of tracer: any Tracer) -> TraceContext? {
        guard let context = ServiceContext.current else { return nil }
        var metadata = Metadata()
        tracer.inject(context, into: &metadata, using: MetadataCarrier())
        return TraceContext(metadata)
    }
}

extension Metadata {
    /// Takes away all values of a name, which is lowercase.
    mutating func removeAll(_ name: String) {
        guard first(name) != nil else { return }
        var rest = Metadata()
        for entry in self where entry.name != name { rest.add(entry.name, entry.value) }
        self = rest
    }
}
