import API

/// How often a program has crashed, and on which methods of late. A pure value; `CrashFolder` keeps it.
struct CrashLedger: Sendable, Hashable {
    /// A crash while a method was handled.
    struct Entry: Sendable, Hashable {
        /// When, in Unix seconds.
        var seconds: Int64
        /// The path of an RPC, or method and path of a route.
        var method: String
    }

    /// All crashes since the ledger was begun.
    private(set) var total: UInt64 = 0
    /// The latest ones whose method is known, the oldest first.
    private(set) var recent: [Entry] = []

    /// Entries that are kept.
    static let entriesMax = 64
    /// The longest ledger that is read, in bytes.
    static let bytesMax = 32_768
    /// A method is suspended if the program crashed on it that often...
    static let crashesUntilSuspended = 3
    /// ...within that time...
    static let windowSeconds: Int64 = 60
    /// ...and for that long after the last of them.
    static let suspensionSeconds: Int64 = 300

    /// A ledger of no crash.
    init() {}

    /// Reads a ledger. Lines that are none are passed over: a damaged ledger must not keep a program from starting.
    init(_ bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            switch words.first {
            case "total" where words.count == 2: total = UInt64(words[1]) ?? total
            case "crash" where words.count == 3:
                if let seconds = Int64(words[1]) { keep(Entry(seconds: seconds, method: String(words[2]))) }
            default: continue
            }
        }
    }

    /// The bytes to keep.
    var bytes: [UInt8] {
        let lines = ["total \(total)"] + recent.map { "crash \($0.seconds) \($0.method)" }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Counts a crash.
    mutating func count(_ report: CrashReport) {
        total &+= 1
        if let running = report.running { keep(Entry(seconds: report.seconds, method: running.method)) }
    }

    private mutating func keep(_ entry: Entry) {
        recent.append(entry)
        if recent.count > Self.entriesMax { recent.removeFirst() }
    }

    /// The methods to refuse, each with the seconds that are left. Never longer than ``suspensionSeconds``, whatever the clock said
    /// when the crashes were written.
    func suspended(nowSeconds: Int64) -> [String: Int64] {
        var left: [String: Int64] = [:]
        for (method, entries) in Dictionary(grouping: recent, by: \.method) where !Self.isExempt(method) {
            let times = entries.map(\.seconds).sorted()
            let count = Self.crashesUntilSuspended
            guard times.count >= count else { continue }
            for last in times.indices.dropFirst(count - 1) {
                let (span, isOver) = times[last].subtractingReportingOverflow(times[last - count + 1])
                let (age, isAgeOver) = nowSeconds.subtractingReportingOverflow(times[last])
                guard !isOver, !isAgeOver, span <= Self.windowSeconds, (0..<Self.suspensionSeconds).contains(age) else {
                    continue
                }
                left[method] = Self.suspensionSeconds - age
            }
        }
        return left
    }

    /// A supervisor asks health to decide whether the process lives.
    private static func isExempt(_ method: String) -> Bool { method.hasPrefix("/\(HealthMethods.serviceName)/") }
}
