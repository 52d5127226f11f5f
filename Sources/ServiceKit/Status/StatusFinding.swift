/// What an operator should look at.
public struct StatusFinding: Sendable, Hashable {
    /// How much it hurries.
    public enum Severity: String, Sendable {
        /// Users notice.
        case failure
        /// Users will, if nothing is done.
        case warning
    }

    /// How much it hurries.
    public let severity: Severity
    /// The program, and if it has several replicas, where it is.
    public let subject: String
    /// What is wrong, and what mends it.
    public let text: String
}

extension StatusFinding {
    /// Waiting work that is older means that what it is for is away.
    static let workAgeMax = 300.0
    /// As the alert `ClockDiffers`.
    static let clockOffsetMax = 5.0
    /// Certificates are renewed a week before their end.
    static let certificateDaysMin = 7.0

    /// What is wrong with a system, the worst first.
    ///
    /// - Parameter now: in seconds since 1970.
    public static func findings(_ programs: [ProgramStatus], now: Double) -> [StatusFinding] {
        var findings = programs.flatMap { Self.findings($0, now: now) }
        let versions = Set(programs.compactMap(\.version))
        if versions.count > 1 {
            findings.append(
                StatusFinding(
                    severity: .warning,
                    subject: "all",
                    text: "several versions run: \(versions.sorted().joined(separator: ", ")); "
                        + "finish the upgrade, or go back"
                )
            )
        }
        return findings.filter { $0.severity == .failure } + findings.filter { $0.severity == .warning }
    }

    private static func findings(_ program: ProgramStatus, now: Double) -> [StatusFinding] {
        let subject = "\(program.program) at \(program.address)"
        guard let reading = program.reading else {
            let key = SharedKeys.metricsListen(program: program.program).name
            let text = "does not answer: it isn't running, or \(key) is another address"
            return [StatusFinding(severity: .failure, subject: subject, text: text)]
        }
        var findings: [StatusFinding] = []
        func add(_ severity: Severity, _ text: String) {
            findings.append(StatusFinding(severity: severity, subject: subject, text: text))
        }
        if program.isReady == false { add(.failure, "is not ready; its log says why") }
        if let suspended = reading.sum("vestibule_methods_suspended"), suspended > 0 {
            add(.failure, "rejects \(Int(suspended)) methods after crashes; its log names them")
        }
        if let connections = program.databaseConnections, connections == 0 {
            add(.failure, "has no connection to PostgreSQL")
        }
        for (reason, words) in [("disk_full", "its disk is full"), ("read_only", "it takes no writes")] {
            let count = reading.sum("vestibule_postgres_refused_writes_total", where: ["reason": reason]) ?? 0
            if count > 0 { add(.warning, "PostgreSQL has refused \(Int(count)) writes since the start: \(words)") }
        }
        if let offset = reading.value("vestibule_database_clock_offset_seconds"), abs(offset) > clockOffsetMax {
            add(
                .failure,
                "its clock and PostgreSQL's differ by \(Int(abs(offset).rounded())) s; look at NTP on both machines"
            )
        }
        if let end = program.certificateEnd {
            let days = (end - now) / 86_400
            if days <= 0 {
                add(.failure, "a certificate has ended; `make renew` renews it")
            } else if days < certificateDaysMin {
                add(.warning, "a certificate ends in \(Int(days)) days; `make renew` renews it")
            }
        }
        return findings + work(reading, subject)
    }

    private static func work(_ reading: MetricsReading, _ subject: String) -> [StatusFinding] {
        var findings: [StatusFinding] = []
        for sample in reading.all("vestibule_work_parked") where sample.value > 0 {
            let queue = sample.labels["queue"] ?? ""
            let text =
                "\(Int(sample.value)) items of \(queue) failed for good; "
                + "`vestibule work list --queue \(queue)` shows them"
            findings.append(StatusFinding(severity: .warning, subject: subject, text: text))
        }
        for sample in reading.all("vestibule_work_oldest_age_seconds") where sample.value > workAgeMax {
            let queue = sample.labels["queue"] ?? ""
            let text = "an item of \(queue) waits for \(Int(sample.value)) s; its log says what fails"
            findings.append(StatusFinding(severity: .warning, subject: subject, text: text))
        }
        return findings
    }
}
