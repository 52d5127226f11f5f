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
        let sorted = facts.sorted { $0.key < $1.key }
        write(event.level, event.message.description) { line in
            for (name, value) in sorted { line.add(name, value) }
        }
    }

    /// Writes a line of now.
    func write(_ level: Logger.Level, _ message: String, addFacts: (inout LogLine) -> Void) {
        let head = LogLineHead(timestamp: .now, level: level, label: label, message: message)
        sink.append(head.line(format, addFacts: addFacts), isUrgent: level >= .warning)
    }
}
