import ServiceKit

/// The status of a system as one screen of text.
struct StatusTable {
    let programs: [ProgramStatus]
    let system: SystemStatus
    let findings: [Finding]
    /// In seconds since 1970.
    let now: Double

    init(programs: [ProgramStatus], now: Double) {
        self.programs = programs
        self.now = now
        system = SystemStatus(programs, now: now)
        findings = Finding.findings(programs, now: now)
    }

    var text: String {
        let rows = [Self.titles] + programs.map(row)
        let widths = Self.titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
                .trimmingSuffix(" ")
        }
        let found = findings.isEmpty ? ["Nothing needs attention."] : findings.map(\.line)
        return (lines + [""] + shared + [""] + found).joined(separator: "\n")
    }

    private static let titles = [
        "PROGRAM", "ADDRESS", "VERSION", "READY", "UP", "CALLS", "FAILED", "DATABASE", "MEMORY", "CERTIFICATE",
    ]

    /// What the programs share, in lines.
    private var shared: [String] {
        let keys = system.keyAgeSeconds.sorted { $0.key < $1.key }.map { "\($0.key) \(Self.span($0.value))" }
        let work = system.work.map { queue in
            let parked = queue.parked > 0 ? ", \(Int(queue.parked)) parked" : ""
            return "\(queue.name): \(Int(queue.waiting)) waiting, oldest \(Self.span(queue.oldestAgeSeconds))\(parked)"
        }
        let lines = [
            ("database", database), ("keys", keys), ("work", work.isEmpty ? ["nothing waits"] : work),
            ("backups", backups), ("clocks", clocks),
        ]
        return lines.filter { !$0.1.isEmpty }.map { title, parts in
            title + String(repeating: " ", count: 10 - title.count) + parts.joined(separator: ", ").printable
        }
    }

    private var database: [String] {
        let database = system.database
        var parts = database.timeline.map { ["timeline \(Int($0))"] } ?? []
        if let size = database.sizeBytes { parts.append(Self.size(size)) }
        if let standbys = database.standbys {
            let lag = database.standbyLagBytes.map { " (\(Self.size($0)) behind)" } ?? ""
            parts.append("standbys \(Int(standbys))\(lag)")
        }
        for (slot, bytes) in database.slotWALBytes.sorted(by: { $0.key < $1.key }) {
            parts.append("slot \(slot) keeps \(Self.size(bytes))")
        }
        if let fails = database.archivingFails { parts.append(fails ? "archiving FAILS" : "archiving works") }
        return parts + ["writes refused \(Int(database.refusedWrites))"]
    }

    private var backups: [String] {
        guard let backups = system.backups else { return [] }
        let lag = backups.logLagBytes.map { " (\(Self.size($0)) behind)" } ?? ""
        var parts = ["log received \(Self.span(backups.followedAgeSeconds)) ago\(lag)"]
        parts.append("newest whole backup \(Self.span(backups.newestAgeSeconds)) ago")
        if let free = backups.diskFreeBytes { parts.append("\(Self.size(free)) free") }
        return parts
    }

    private var clocks: [String] {
        let offset = system.database.clockOffsetSeconds.map { offset in
            // Tenths, since half of a round trip is the measurement's own error.
            let tenths = Int((abs(offset) * 10).rounded())
            return "PostgreSQL's differs by \(tenths / 10).\(tenths % 10) s"
        }
        return [offset, system.clocksSynchronized.map { $0 ? "NTP is in step" : "NTP is not in step" }].compactMap(
            \.self
        )
    }

    /// Bytes in a unit that leaves up to three digits.
    static func size(_ bytes: Double) -> String {
        let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        let (unit, name) = units.first { bytes >= $0.0 } ?? (1, "B")
        return "\(Int(bytes / unit)) \(name)"
    }

    private func row(_ program: ProgramStatus) -> [String] {
        guard program.reading != nil else {
            return [program.program, "\(program.address)", "-", "no"]
                + Array(repeating: "-", count: Self.titles.count - 4)
        }
        let connections = program.databaseConnections.map { "\(Int($0))" }
        let end = program.certificateEnd.map { Self.span($0 - now) }
        return [
            program.program, "\(program.address)", program.version?.printable ?? "-",
            program.isReady.map { $0 ? "yes" : "no" } ?? "-",
            program.startedAt.map { Self.span(now - $0) } ?? "-",
            program.calls.map { "\(Int($0.all))" } ?? "-", program.calls.map { "\(Int($0.failed))" } ?? "-",
            connections ?? "-", program.memoryBytes.map { "\(Int($0 / 1e6)) MB" } ?? "-", end ?? "-",
        ]
    }

    /// A time in its two largest units, such as "3d 4h".
    static func span(_ seconds: Double) -> String {
        guard seconds >= 0 else { return "over" }
        let whole = Int(min(seconds, 1e9))
        let parts = [(whole / 86_400, "d"), (whole / 3600 % 24, "h"), (whole / 60 % 60, "m"), (whole % 60, "s")]
        let first = parts.firstIndex { $0.0 > 0 } ?? 3
        return parts[first..<min(first + 2, 4)].map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        var text = self[...]
        while text.last == character { text = text.dropLast() }
        return String(text)
    }
}
