import RPC

/// The one method of `opentelemetry.proto.collector.trace.v1.TraceService`.
public enum TraceServiceMethods {
    /// Takes a batch of spans. Sending one twice may store it twice.
    public static let export = MethodDescriptor(
        service: "opentelemetry.proto.collector.trace.v1.TraceService",
        method: "Export"
    )
}
