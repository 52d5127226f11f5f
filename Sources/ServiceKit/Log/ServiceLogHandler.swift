import Logging

/// swift-log's handler of every program of ours: one line an event into a `LogSink`.
struct ServiceLogHandler: LogHandler {
    let label: String
    let format: LogFormat
    let sink: LogSink
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var facts = metadata
        if let provided = metadataProvider?.get() { facts.merge(provided) { _, new in new } }
        if let explicit = event.metadata { facts.merge(explicit) { _, new in new } }
        if let error = event.error { facts["error"] = "\(error)" }
        var line = line(event.level, event.message.description)
        for (name, value) in facts.sorted(by: { $0.key < $1.key }) { line.add(name, value) }
        sink.append(line.finished(), isUrgent: event.level >= .warning)
    }

    /// The beginning of a line of now.
    func line(_ level: Logger.Level, _ message: String) -> LogLine {
        LogLine(format, timestamp: .now, level: level, label: label, message: message)
    }
}
