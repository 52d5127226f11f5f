import Logging
import OTLP
import RPC
import RPCTransport
import Synchronization
import Tracing

/// The traces of a process: off unless OpenTelemetry's variables turn them on (`TraceKeys`).
public enum Traces {
    /// Installs the program's tracer, which servers, channels and database clients that are configured later find. Does
    /// nothing where traces are off or their keys are at fault. The second call of a process does nothing either.
    public static func install(_ configuration: Configuration, program: String) {
        guard TraceKeys.faults(configuration).isEmpty,
            let settings = TraceKeys.settings(configuration, program: program),
            isInstalled.exchange(true, ordering: .relaxed) == false
        else { return }
        InstrumentationSystem.bootstrap(OTLPTracer(settings))
    }

    private static let isInstalled = Atomic(false)

    /// The program's tracer; nil where traces are off.
    public static var tracer: OTLPTracer? { InstrumentationSystem.installedTracer as? OTLPTracer }

    /// The current span, as the rows of work store it; nil if traces are off.
    public static var current: String? { tracer.flatMap { TraceContext.current(of: $0) }?.parent }

    /// What exports the spans of a tracer while it runs, and tells `metrics` what becomes of them; nil without a tracer.
    /// Throws `TransportError` for a target that can be none.
    public static func exporter(
        _ tracer: OTLPTracer?,
        group: EventLoopGroup,
        logger: Logger,
        metrics: MetricsRegistry
    ) throws -> OTLPExporter? {
        guard let tracer else { return nil }
        let exporter = try OTLPExporter(tracer, group: group, logger: logger)
        metrics.add(TraceMetrics(tracer))
        let settings = tracer.configuration
        logger.notice("traces are exported", metadata: ["collector": .string(settings.target)])
        if !settings.headers.isEmpty, settings.tls == nil, HostPort(settings.target)?.isLoopback == false {
            logger.warning(
                "exposed",
                metadata: ["problem": "\(TraceKeys.headers.name) are sent in clear text: the endpoint is not https://"]
            )
        }
        return exporter
    }
}
