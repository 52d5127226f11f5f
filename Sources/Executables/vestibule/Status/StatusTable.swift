import ServiceKit

/// The status of a system as one screen of text.
struct StatusTable {
    let programs: [ProgramStatus]
    let findings: [StatusFinding]
    /// In seconds since 1970.
    let now: Double

    var text: String {
        let rows = [Self.titles] + programs.map(row)
        let widths = Self.titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
                .trimmingSuffix(" ")
        }
        let found = findings.map { "\($0.severity.rawValue): \($0.subject.printable) \($0.text.printable)" }
        return (lines + [""] + (found.isEmpty ? ["Nothing needs attention."] : found)).joined(separator: "\n")
    }

    private static let titles = [
        "PROGRAM", "ADDRESS", "VERSION", "READY", "UP", "CALLS", "FAILED", "DATABASE", "MEMORY", "CERTIFICATE",
    ]

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
