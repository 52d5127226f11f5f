import RPC

/// The one method of `opentelemetry.proto.collector.trace.v1.TraceService`.
public enum TraceServiceMethods {
    /// Sends a batch of spans. A batch that is sent twice may be stored twice.
    public static let export = MethodDescriptor(
        service: "opentelemetry.proto.collector.trace.v1.TraceService",
        method: "Export"
    )
}
