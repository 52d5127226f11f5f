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

    /// Exports the spans of a tracer until the task is cancelled, and tells `metrics` what becomes of them. Throws
    /// `TransportError` for a target that can be none.
    ///
    /// - Returns: the work, which ends some seconds after its task was cancelled at the latest.
    public static func exporting(
        _ tracer: OTLPTracer?,
        group: EventLoopGroup,
        logger: Logger,
        metrics: MetricsRegistry
    ) throws -> @Sendable () async -> Void {
        guard let tracer else { return {} }
        let exporter = try OTLPExporter(tracer, group: group, logger: logger)
        metrics.add(TraceMetrics(tracer))
        logger.notice("traces are exported", metadata: ["collector": .string(tracer.configuration.target)])
        return { await exporter.run() }
    }
}
