extension Finding {
    /// Waiting work that is older means that what it is for is away.
    static let workAgeMax = 300.0
    /// As the alert `ClockDiffers`.
    static let clockOffsetMax = 5.0
    /// Certificates are renewed a week before their end.
    static let certificateDaysMin = 7.0
    /// As the alert `OwnKeysOld`: keys are replaced after 90 days (docs/run/key-rotation.md).
    static let keyDaysMax = 95.0
    /// As the alert `RotationStopped`: a next key is used within the hour.
    static let nextKeyDaysMax = 2.0
    /// As the alert `BackupsNotFollowed`.
    static let backupFollowedSecondsMax = 300.0
    /// As the alert `SlotKeepsWAL`.
    static let slotBytesMax = 2.0 * 1024 * 1024 * 1024

    /// What is wrong with a running system, the worst first.
    ///
    /// - Parameter now: in seconds since 1970.
    public static func findings(_ programs: [ProgramStatus], now: Double) -> [Finding] {
        var findings = programs.flatMap { Self.findings($0, now: now) }
        let versions = Set(programs.compactMap(\.version))
        if versions.count > 1 {
            let list = versions.sorted().joined(separator: ", ")
            findings.append(
                Finding(.warning, "all", "several versions run: \(list)", mend: "finish the upgrade, or go back")
            )
        }
        return findings.merged
    }

    private static func findings(_ program: ProgramStatus, now: Double) -> [Finding] {
        let subject = "\(program.program) at \(program.address)"
        guard let reading = program.reading else {
            let key = SharedKeys.metricsListen(program: program.program).name
            return [
                Finding(
                    .failure,
                    subject,
                    "does not answer: it isn't running, or \(key) is another address",
                    mend: "its log says why it ended"
                )
            ]
        }
        var findings: [Finding] = []
        func add(_ severity: Severity, _ problem: String, _ mend: String? = nil) {
            findings.append(Finding(severity, subject, problem, mend: mend))
        }
        if program.isReady == false { add(.failure, "is not ready", "its log says why") }
        if let suspended = reading.sum("vestibule_methods_suspended"), suspended > 0 {
            add(.failure, "rejects \(Int(suspended)) methods after crashes", "its log names them")
        }
        if let end = program.certificateEnd {
            let days = (end - now) / 86_400
            let mend = "`make renew` renews it"
            if days <= 0 {
                add(.failure, "a certificate has ended", mend)
            } else if days < certificateDaysMin {
                add(.warning, "a certificate ends in \(Int(days)) days", mend)
            }
        }
        if reading.value("vestibule_clock_synchronized") == 0 {
            add(.warning, "says that no NTP keeps its machine's clock right", "see `timedatectl` there")
        }
        if let backups = SystemStatus.Backups(reading, now: now) { findings += self.backups(backups, subject) }
        return findings + database(program, reading, subject) + keys(reading, subject, now) + work(reading, subject)
    }

    private static func database(_ program: ProgramStatus, _ reading: MetricsReading, _ subject: String) -> [Finding] {
        var findings: [Finding] = []
        if let connections = program.databaseConnections, connections == 0 {
            findings.append(Finding(.failure, subject, "has no connection to PostgreSQL"))
        }
        for (reason, words) in [("disk_full", "its disk is full"), ("read_only", "it takes no writes")] {
            let count = reading.sum("vestibule_postgres_refused_writes_total", where: ["reason": reason]) ?? 0
            guard count > 0 else { continue }
            let problem = "PostgreSQL has refused \(Int(count)) writes since the start: \(words)"
            findings.append(Finding(.warning, subject, problem))
        }
        if let offset = reading.value("vestibule_database_clock_offset_seconds"), abs(offset) > clockOffsetMax {
            let problem = "its clock and PostgreSQL's differ by \(Int(abs(offset).rounded())) s"
            findings.append(Finding(.failure, subject, problem, mend: "look at NTP on both machines"))
        }
        // What follows each service says of the same PostgreSQL.
        for sample in reading.all("vestibule_database_slot_wal_bytes") where sample.value > slotBytesMax {
            let slot = sample.labels["slot"] ?? ""
            findings.append(
                Finding(
                    .warning,
                    "PostgreSQL",
                    "keeps \(Int(sample.value / 1e9)) GB of WAL for the replication slot \(slot), until its disk is full",
                    mend: "start the standby that uses it, or drop it: SELECT pg_drop_replication_slot('\(slot)')"
                )
            )
        }
        if reading.value("vestibule_database_archiving_fails") == 1 {
            findings.append(
                Finding(
                    .warning,
                    "PostgreSQL",
                    "can't archive its WAL, and keeps it until its disk is full",
                    mend: "its log says what archive_command answers"
                )
            )
        }
        return findings
    }

    private static func backups(_ backups: SystemStatus.Backups, _ subject: String) -> [Finding] {
        var findings: [Finding] = []
        if backups.followedAgeSeconds > backupFollowedSecondsMax {
            let problem = "PostgreSQL's log has not been received for \(Int(backups.followedAgeSeconds)) s"
            findings.append(Finding(.failure, subject, problem, mend: "its log says why"))
        }
        if backups.newestAgeSeconds > 1.5 * backups.intervalSeconds + 3600 {
            let problem = "the newest whole backup is \(Int(backups.newestAgeSeconds / 3600)) hours old"
            findings.append(Finding(.failure, subject, problem, mend: "`vestibule backup` makes one, or says why not"))
        }
        return findings
    }

    private static func keys(_ reading: MetricsReading, _ subject: String, _ now: Double) -> [Finding] {
        reading.all(ProgramStatus.keysSince).sorted { $0.labels["kind"] ?? "" < $1.labels["kind"] ?? "" }.compactMap {
            sample in
            let days = (now - sample.value) / 86_400
            let kind = sample.labels["kind"] ?? ""
            switch sample.labels["state"] {
            case "current" where days > keyDaysMax:
                return Finding(
                    .warning,
                    subject,
                    "its \(kind) key has been in use for \(Int(days)) days, and 90 are enough",
                    mend: "`vestibule keys rotate` each quarter of an hour replaces it (docs/run/key-rotation.md)"
                )
            case "next" where days > nextKeyDaysMax:
                return Finding(
                    .warning,
                    subject,
                    "the rotation of its \(kind) key stopped \(Int(days)) days ago",
                    mend: "`vestibule keys rotate \(kind)` goes on with it"
                )
            default: return nil
            }
        }
    }

    private static func work(_ reading: MetricsReading, _ subject: String) -> [Finding] {
        var findings: [Finding] = []
        for sample in reading.all("vestibule_work_parked") where sample.value > 0 {
            let queue = sample.labels["queue"] ?? ""
            findings.append(
                Finding(
                    .warning,
                    subject,
                    "\(Int(sample.value)) items of \(queue) failed for good",
                    mend: "`vestibule work list --queue \(queue)` shows them"
                )
            )
        }
        for sample in reading.all("vestibule_work_oldest_age_seconds") where sample.value > workAgeMax {
            let problem = "an item of \(sample.labels["queue"] ?? "") waits for \(Int(sample.value)) s"
            findings.append(Finding(.warning, subject, problem, mend: "its log says what fails"))
        }
        for sample in reading.all("vestibule_identity_webhooks_stopped") where sample.value > 0 {
            let problem =
                "the webhook \(sample.labels["target"] ?? "") gets no more events: it answered that it is gone"
            findings.append(
                Finding(
                    .warning,
                    subject,
                    problem,
                    mend: "take it out of the webhooks file, or mend it and see docs/run/webhooks.md"
                )
            )
        }
        return findings
    }
}
