import Logging

/// A program's log, set up once at start.
public struct ServiceLog: Sendable {
    /// The logger of the program.
    public let logger: Logger
    /// Where the lines go.
    public let sink: LogSink

    /// Makes every logger of the process write as configured; call it once a process, before the first logger is made.
    ///
    /// - Parameters:
    ///   - label: the program's name.
    ///   - configuration: read with at least `SharedKeys.log`.
    public static func bootstrap(label: String, configuration: Configuration) -> ServiceLog {
        let sink = LogSink(fileDescriptor: configuration[SharedKeys.logOutput].fileDescriptor)
        let format = configuration[SharedKeys.logFormat]
        let level = configuration[SharedKeys.logLevel].level
        LoggingSystem.bootstrap { label in
            ServiceLogHandler(label: label, format: format, sink: sink, logLevel: level)
        }
        return ServiceLog(logger: Logger(label: label), sink: sink)
    }
}
