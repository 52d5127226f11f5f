import RPCTransport

/// What the process was doing when it crashed, as `CrashReporter` wrote it.
struct CrashReport: Sendable, Hashable {
    /// The signal, such as `SIGILL`.
    var signal: String
    /// When, in Unix seconds.
    var seconds: Int64
    /// The call that the crashed thread handled; nil if it handled none, or that is not known.
    var running: Call?

    /// A call in flight.
    struct Call: Sendable, Hashable {
        /// The path of an RPC, or method and path of a route.
        var method: String
        /// The id by which the request is found in logs; `-` for none.
        var requestID: String
    }

    /// The longest report that is read, in bytes.
    static let bytesMax = 65_536

    /// Reads a report. Nil if it is none, or was cut.
    init?(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.last == "end" else { return nil }
        var facts: [Substring: [Substring]] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            if let name = words.first, facts[name] == nil { facts[name] = Array(words.dropFirst()) }
        }
        guard let signal = facts["signal"]?.first, let seconds = facts["seconds"]?.first.flatMap({ Int64($0) }) else {
            return nil
        }
        self.signal = String(signal)
        self.seconds = seconds
        // A route's name is two words: its method and its path.
        guard let words = facts["running"], let id = words.last, words.count >= 2 else { return }
        running = Call(method: words.dropLast().joined(separator: " "), requestID: String(id))
    }
}

extension CrashReport {
    /// A crash whose report was cut, so that no more is known than that it was.
    init(unreadableAt seconds: Int64) {
        signal = "unknown"
        self.seconds = seconds
    }
}
