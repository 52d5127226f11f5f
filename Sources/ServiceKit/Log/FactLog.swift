import Logging

/// Writes lines of which there is one for each call or request. It says what `Logger` would say, without its dictionaries, whose
/// hashing and sorting cost more than the line.
public struct FactLog: Sendable {
    private let logger: Logger
    /// Nil where the logger's handler is another's, or has facts of its own.
    private let handler: ServiceLogHandler?

    /// A log of the facts given here alone, where the logger has none of its own; else it goes the logger's way.
    public init(_ logger: Logger) {
        self.logger = logger
        let handler = logger.handler as? ServiceLogHandler
        self.handler = handler.flatMap { $0.metadata.isEmpty && $0.metadataProvider == nil ? $0 : nil }
    }

    /// Writes a line, unless its level is too low. Any thread; never waits for the log's reader.
    ///
    /// - Parameter addFacts: adds the facts, each name once, in the order in which they are to stand. It may be called more than
    ///   once.
    public func log(_ level: Logger.Level, _ message: String, addFacts: (inout LogFacts) -> Void) {
        guard let handler else {
            guard logger.logLevel <= level else { return }
            var facts = LogFacts()
            addFacts(&facts)
            return logger.log(level: level, "\(message)", metadata: facts.metadata)
        }
        guard handler.logLevel <= level else { return }
        handler.write(level, message) { line in
            var facts = LogFacts(line: line)
            addFacts(&facts)
            if let written = facts.line { line = written }
        }
    }
}

/// The facts of one line of a ``FactLog``. It is of no use after the call that it was given for.
public struct LogFacts {
    /// The line that they are written to at once.
    fileprivate var line: LogLine?
    /// Where they are kept if there is none.
    fileprivate var metadata: Logger.Metadata = [:]

    /// Adds a fact that is text. Control characters come out escaped, or as spaces.
    public mutating func add(_ name: StaticString, _ text: String) {
        if line?.add(name, text) == nil { metadata[name.description] = .string(text) }
    }

    /// Adds a fact that is a number.
    public mutating func add(_ name: StaticString, _ number: Int64) {
        if line?.add(name, number) == nil { metadata[name.description] = .stringConvertible(number) }
    }
}
