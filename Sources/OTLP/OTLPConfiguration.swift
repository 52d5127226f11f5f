import RPC
import RPCTransport

/// The configuration of the export. The names in brackets are OpenTelemetry's environment variables.
public struct OTLPConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `host:port` of the collector [OTEL_EXPORTER_OTLP_ENDPOINT].
    public var target: String
    /// TLS; nil for clear text [the endpoint's scheme, OTEL_EXPORTER_OTLP_CERTIFICATE and so on].
    public var tls: TLSConfiguration?
    /// Metadata of each export, usually an API key: never printed [OTEL_EXPORTER_OTLP_HEADERS].
    public var headers = Metadata()
    /// The timeout of one attempt [OTEL_EXPORTER_OTLP_TIMEOUT].
    public var attemptTimeout: Duration = .seconds(10)
    /// Whether batches are compressed with gzip [OTEL_EXPORTER_OTLP_COMPRESSION].
    public var compresses = false
    /// The maximum of waiting spans [OTEL_BSP_MAX_QUEUE_SIZE].
    public var queueSpansMax = 2048
    /// How long a span waits before it is sent [OTEL_BSP_SCHEDULE_DELAY].
    public var scheduleDelay: Duration = .seconds(5)
    /// The maximum of spans in a batch; a full batch is sent immediately [OTEL_BSP_MAX_EXPORT_BATCH_SIZE].
    public var batchSpansMax = 512
    /// The timeout of all attempts for a batch together [OTEL_BSP_EXPORT_TIMEOUT].
    public var exportTimeout: Duration = .seconds(30)
    /// Decides which spans are recorded [OTEL_TRACES_SAMPLER].
    public var sampler = TraceSampler.parentBased(.alwaysOn)
    /// The attributes of this process, above all `service.name` [OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES].
    public var resource: [String: String]

    /// A configuration with OpenTelemetry's defaults.
    public init(target: String, serviceName: String) {
        self.target = target
        resource = ["service.name": serviceName]
    }

    /// Without the headers.
    public var description: String { "OTLP by gRPC to \(target)" }
    /// Without the headers.
    public var debugDescription: String { description }
    /// No children, so that printing it never shows the headers.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
