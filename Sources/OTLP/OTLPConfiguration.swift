import RPC
import RPCTransport

/// Where and how spans are sent, and which. The names in brackets are those of OpenTelemetry's environment variables.
public struct OTLPConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `host:port` of the collector [OTEL_EXPORTER_OTLP_ENDPOINT].
    public var target: String
    /// TLS; nil for clear text [the endpoint's scheme, OTEL_EXPORTER_OTLP_CERTIFICATE and so on].
    public var tls: TLSConfiguration?
    /// Metadata of each export, most likely a key: never printed [OTEL_EXPORTER_OTLP_HEADERS].
    public var headers = Metadata()
    /// How long one attempt may take [OTEL_EXPORTER_OTLP_TIMEOUT].
    public var attemptTimeout: Duration = .seconds(10)
    /// Whether batches are compressed with gzip [OTEL_EXPORTER_OTLP_COMPRESSION].
    public var compresses = false
    /// Spans that wait at most [OTEL_BSP_MAX_QUEUE_SIZE].
    public var queueSpansMax = 2048
    /// How long a span waits before it is sent [OTEL_BSP_SCHEDULE_DELAY].
    public var scheduleDelay: Duration = .seconds(5)
    /// Spans of a batch; so many are sent without waiting longer [OTEL_BSP_MAX_EXPORT_BATCH_SIZE].
    public var batchSpansMax = 512
    /// How long all attempts for a batch may take together [OTEL_BSP_EXPORT_TIMEOUT].
    public var exportTimeout: Duration = .seconds(30)
    /// Which spans are recorded [OTEL_TRACES_SAMPLER].
    public var sampler = TraceSampler.parentBased(.alwaysOn)
    /// What describes this process, `service.name` above all [OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES].
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
    /// No children, so that no way of printing it reaches the headers.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
