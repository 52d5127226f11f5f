import API
import Glibc
import Logging
import RPC
import RPCTransport

/// The crashes of a program: has those of this process reported, and knows those before.
public struct Crashes: Sendable {
    /// All that were counted in the folder; zero without one.
    let total: UInt64
    /// The methods on which the program crashed again and again, and when their calls are taken again.
    let suspended: [String: Deadline]
    /// Whether there is a folder to count in.
    let areCounted: Bool

    /// None, and nothing is reported.
    public static let none = Crashes(total: 0, suspended: [:], areCounted: false)

    /// Where reports are written.
    public static let folder = ConfigurationKey.optionalPath(
        "VESTIBULE_CRASHES_FOLDER",
        help:
            "A folder that outlives the process, for crash reports. A method that crashed the program "
            + "three times in a minute is rejected for five minutes. Without the folder, crashes are "
            + "only logged."
    )

    /// Has crashes of this process reported, and counts those before it. Call it once a process, before event loops start.
    ///
    /// A folder that cannot be used is logged and otherwise none: it must not keep the program from serving.
    public static func begin(_ configuration: Configuration, program: String) -> Crashes {
        let logger = Logger(label: program)
        let folder = configuration[Self.folder].map { CrashFolder(path: $0, program: program) }
        var crashes = Crashes.none
        var reportPath: String?
        if let folder {
            do {
                let (ledger, reports) = try folder.collect()
                crashes = Crashes(ledger, now: .now(), nowSeconds: Int64(time(nil)))
                crashes.log(reports, logger)
                reportPath = folder.newReportPath()
            } catch {
                logger.error("crashes are not counted", metadata: ["problem": "\(error)"])
            }
        }
        do {
            try CrashReporter.install(
                program: program,
                version: ProgramVersion.current,
                logDescriptor: configuration[SharedKeys.logOutput].fileDescriptor,
                writesJSON: configuration[SharedKeys.logFormat] == .json,
                reportPath: reportPath
            )
        } catch {
            logger.error("crashes are not reported", metadata: ["problem": "\(error)"])
        }
        return crashes
    }

    /// What follows from a ledger.
    init(_ ledger: CrashLedger, now: Deadline, nowSeconds: Int64) {
        let left = ledger.suspended(nowSeconds: nowSeconds)
        self.init(
            total: ledger.total,
            suspended: left.mapValues { now.advanced(by: .seconds($0)) },
            areCounted: true
        )
    }

    init(total: UInt64, suspended: [String: Deadline], areCounted: Bool) {
        self.total = total
        self.suspended = suspended
        self.areCounted = areCounted
    }

    private func log(_ reports: [CrashReport], _ logger: Logger) {
        for report in reports {
            var facts: Logger.Metadata = ["signal": "\(report.signal)", "total": "\(total)"]
            if let running = report.running {
                facts["method"] = "\(running.method)"
                facts["request_id"] = "\(running.requestID)"
            }
            logger.error("the process before this one crashed", metadata: facts)
        }
        for (method, until) in suspended.sorted(by: { $0.key < $1.key }) {
            logger.critical(
                "calls of a method are refused: the program crashed on it again and again",
                metadata: ["method": "\(method)", "seconds": "\(until.remaining.components.seconds)"]
            )
        }
    }

    /// For a router.
    public var suspendedMethods: SuspendedMethods {
        SuspendedMethods(until: suspended) { remaining in
            .domain(.unavailable, reason: Self.reason, message: Self.message, retryAfter: Self.wait(remaining))
        }
    }

    /// The stable word for a refused call.
    static let reason = "METHOD_SUSPENDED"
    static let message = "This is not available right now. Please try again later."

    /// Whole seconds, at least one.
    static func wait(_ remaining: Duration) -> Duration { .seconds(max(1, remaining.components.seconds)) }
}

/// How often the program has crashed, and which methods are refused for it.
extension Crashes: MetricsSource {
    /// Adds the families; nothing where crashes are not counted.
    public func write(to text: inout MetricsText) {
        guard areCounted else { return }
        text.single(
            "vestibule_crashes_total",
            .counter,
            help: "Crashes of this program that were counted in its folder, those of earlier processes included.",
            Double(total)
        )
        text.single(
            "vestibule_methods_suspended",
            .gauge,
            help:
                "Methods whose calls are refused because the program crashed on them again and again; the log names them.",
            Double(suspended.values.count { !$0.hasPassed })
        )
    }
}
