import Logging

/// The levels of the log, as configuration names them.
public enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical

    /// swift-log's level.
    public var level: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}

/// How log lines look.
public enum LogFormat: String, CaseIterable, Sendable {
    /// A JSON object a line.
    case json
    /// Time, level, logger, message, facts.
    case text
}

/// Where log lines go.
public enum LogOutput: String, CaseIterable, Sendable {
    case stderr, stdout

    var fileDescriptor: Int32 {
        switch self {
        case .stdout: 1
        case .stderr: 2
        }
    }
}

/// Which calls get a line in the log.
public enum CallLogging: String, CaseIterable, Sendable {
    /// Every call.
    case all
    /// Those that did not end with OK.
    case failures
    /// None.
    case none
}
