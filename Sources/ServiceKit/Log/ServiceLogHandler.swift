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
        let head = LogLineHead(format, event.level, label: label, message: event.message.description)
        head.write(event.level, to: sink) { line in
            for (name, value) in sorted { line.add(name, value) }
        }
    }
}

extension LogLineHead {
    /// Writes a line of now.
    func write(_ level: Logger.Level, to sink: LogSink, addFacts: (inout LogLine) -> Void) {
        writeLine(at: .now, addFacts: addFacts) { sink.append($0, isUrgent: level >= .warning) }
    }
}
