import OTLP
import RPC
import RPCTransport

/// OpenTelemetry's own variables, by their standard names, in the environment or the configuration file: the part of its
/// specification that concerns traces sent by OTLP over gRPC. Each program reads them.
public enum TraceKeys {
    static let isDisabled = ConfigurationKey.bool(
        "OTEL_SDK_DISABLED",
        default: false,
        help: "Whether traces are off, whatever else is set."
    )
    static let exporter = ConfigurationKey<Exporter?>.optionalChoice(
        "OTEL_TRACES_EXPORTER",
        help: "otlp turns traces on, none off; without it they are on if an endpoint is given."
    )
    static let endpoint = ConfigurationKey.optionalURL(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        help: "The collector, such as http://localhost:4317; https:// for TLS. Port 4317 where none is given."
    )
    static let tracesEndpoint = ConfigurationKey.optionalURL(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        help: "The same, for traces alone."
    )
    static let `protocol` = ConfigurationKey<String?>.traceProtocol(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        specificName: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    )
    static let tracesProtocol = ConfigurationKey<String?>.traceProtocol("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
    static let headers = ConfigurationKey<Secret?>.traceHeaders(
        "OTEL_EXPORTER_OTLP_HEADERS",
        help: "Metadata of each export, such as api-key=…; name=value, comma between several, percent-encoded."
    )
    static let authorities = ConfigurationKey.optionalPath(
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
        help: "PEM file of the authorities that the collector's certificate comes from; without it the system's."
    )
    static let certificate = ConfigurationKey.optionalPath(
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        help: "PEM file of the certificate that is shown to the collector."
    )
    static let key = ConfigurationKey.optionalPath(
        "OTEL_EXPORTER_OTLP_CLIENT_KEY",
        help: "PEM file of that certificate's private key."
    )
    static let compression = ConfigurationKey<Compression>.choice(
        "OTEL_EXPORTER_OTLP_COMPRESSION",
        default: Compression.none,
        help: "Whether what is sent to the collector is compressed."
    )
    static let timeout = ConfigurationKey.int(
        "OTEL_EXPORTER_OTLP_TIMEOUT",
        in: 10...600_000,
        default: 10_000,
        help: "How long one attempt to send a batch may take, in milliseconds."
    )
    static let queueSpansMax = ConfigurationKey.int(
        "OTEL_BSP_MAX_QUEUE_SIZE",
        in: 1...1_000_000,
        default: 2048,
        help: "Spans that wait to be sent; more are dropped and counted."
    )
    static let scheduleDelay = ConfigurationKey.int(
        "OTEL_BSP_SCHEDULE_DELAY",
        in: 10...600_000,
        default: 5000,
        help: "How long a span waits to be sent, in milliseconds."
    )
    static let batchSpansMax = ConfigurationKey.int(
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
        in: 1...2048,
        default: 512,
        help: "Spans of one batch; so many are sent without waiting longer."
    )
    static let exportTimeout = ConfigurationKey.int(
        "OTEL_BSP_EXPORT_TIMEOUT",
        in: 10...600_000,
        default: 30_000,
        help: "How long all attempts to send a batch may take together, in milliseconds."
    )
    static let sampler = ConfigurationKey<Sampler>.choice(
        "OTEL_TRACES_SAMPLER",
        default: .parentBasedAlwaysOn,
        help: "Which traces are recorded; parentbased_ does what the caller's traceparent says, where there is one."
    )
    static let samplerArgument = ConfigurationKey<Double>.ratio(
        "OTEL_TRACES_SAMPLER_ARG",
        help: "For traceidratio: the share of all traces that is recorded, from 0 to 1."
    )
    static let serviceName = ConfigurationKey.optionalString(
        "OTEL_SERVICE_NAME",
        help: "What the collector calls the process; by default vestibule- and the program's name.",
        lengthMax: 255
    )
    static let resource = ConfigurationKey<[String: String]>.traceResource(
        "OTEL_RESOURCE_ATTRIBUTES",
        help: "What else describes the process: name=value, comma between several, percent-encoded."
    )

    /// What OTEL_TRACES_EXPORTER can be.
    enum Exporter: String, CaseIterable, Sendable { case otlp, none }
    /// What OTEL_EXPORTER_OTLP_COMPRESSION can be.
    enum Compression: String, CaseIterable, Sendable { case none, gzip }
    /// What OTEL_TRACES_SAMPLER can be.
    enum Sampler: String, CaseIterable, Sendable {
        case alwaysOn = "always_on"
        case alwaysOff = "always_off"
        case ratio = "traceidratio"
        case parentBasedAlwaysOn = "parentbased_always_on"
        case parentBasedAlwaysOff = "parentbased_always_off"
        case parentBasedRatio = "parentbased_traceidratio"
    }

    /// All of them.
    public static let all: [any AnyConfigurationKey] = [
        isDisabled, exporter, endpoint, tracesEndpoint, `protocol`, tracesProtocol, headers, authorities, certificate,
        key,
        compression, timeout, queueSpansMax, scheduleDelay, batchSpansMax, exportTimeout, sampler, samplerArgument,
        serviceName, resource,
    ]
}
