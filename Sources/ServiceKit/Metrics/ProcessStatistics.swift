import Glibc

/// What `/proc/self/stat` says; see proc(5).
struct ProcessStatistics: Equatable {
    var processorTicks: UInt64
    var threadCount: UInt64
    var startTicks: UInt64
    var virtualBytes: UInt64
    var residentPages: UInt64

    /// From the file's words; nil if they are others than proc(5) says. The second is the program's name in parentheses,
    /// which may have spaces in it, so counting begins after the last one that ends with a parenthesis.
    init?(own words: [Substring]) {
        guard let name = words.lastIndex(where: { $0.hasSuffix(")") }) else { return nil }
        let fields = words[(name + 1)...].map { UInt64($0) }
        // The first of them is the third field.
        guard fields.count > 21, let user = fields[11], let system = fields[12], let threads = fields[17],
            let start = fields[19], let virtual = fields[20], let resident = fields[21]
        else { return nil }
        processorTicks = user + system
        threadCount = threads
        startTicks = start
        virtualBytes = virtual
        residentPages = resident
    }
}
