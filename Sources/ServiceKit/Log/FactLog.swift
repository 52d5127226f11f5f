import Logging

/// Writes lines of one message, of which there is one for each call or request. It says what `Logger` would say, without its
/// dictionaries, whose hashing and sorting cost more than the line.
public struct FactLog: Sendable {
    private let logger: Logger
    private let message: String
    /// Nil where the logger's handler is another's, or has facts of its own.
    private let lines: Lines?

    /// What lines need that go no logger's way.
    private final class Lines: Sendable {
        let sink: LogSink
        let level: Logger.Level
        /// What they begin with, by level.
        let heads: [LogLineHead]

        init(_ handler: ServiceLogHandler, _ message: String) {
            sink = handler.sink
            level = handler.logLevel
            heads = Logger.Level.allCases.map {
                LogLineHead(handler.format, $0, label: handler.label, message: message)
            }
        }
    }

    /// A log of the facts given here alone, where the logger has none of its own; else it goes the logger's way.
    public init(_ logger: Logger, _ message: String) {
        self.logger = logger
        self.message = message
        let handler = (logger.handler as? ServiceLogHandler).flatMap {
            $0.metadata.isEmpty && $0.metadataProvider == nil ? $0 : nil
        }
        lines = handler.map { Lines($0, message) }
    }

    /// Writes a line, unless its level is too low. Any thread; never waits for the log's reader.
    ///
    /// - Parameter addFacts: adds the facts, each name once, in the order in which they are to stand. It may be called more than
    ///   once.
    public func log(_ level: Logger.Level, addFacts: (inout LogFacts) -> Void) {
        guard let lines else {
            guard logger.logLevel <= level else { return }
            var facts = LogFacts(metadata: [:])
            addFacts(&facts)
            return logger.log(level: level, "\(message)", metadata: facts.metadata)
        }
        guard lines.level <= level else { return }
        lines.heads[level.place].write(level, to: lines.sink) { line in
            var facts = LogFacts(line: line)
            addFacts(&facts)
            if let written = facts.line { line = written }
        }
    }
}

extension Logger.Level {
    /// The place among all cases.
    fileprivate var place: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}

/// The facts of one line of a ``FactLog``. It is of no use after the call that it was given for.
public struct LogFacts {
    /// The line that they are written to at once.
    fileprivate var line: LogLine?
    /// Where they are kept if there is none.
    fileprivate var metadata: Logger.Metadata?

    /// Adds a fact that is text. Control characters come out escaped, or as spaces.
    public mutating func add(_ name: StaticString, _ text: String) {
        if line?.add(name, text) == nil { metadata?[name.description] = .string(text) }
    }

    /// Adds a fact that is a number.
    public mutating func add(_ name: StaticString, _ number: Int64) {
        if line?.add(name, number) == nil { metadata?[name.description] = .stringConvertible(number) }
    }
}
