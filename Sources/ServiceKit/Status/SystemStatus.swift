/// What a system's programs say of what they share: database, keys and waiting work. A pure value.
public struct SystemStatus: Sendable, Hashable, Encodable {
    /// PostgreSQL, as the services see it; what nobody says is nil.
    public struct Database: Sendable, Hashable, Encodable {
        /// Which history of its data it writes.
        public let timeline: Double?
        /// Bytes of the database on the disk.
        public let sizeBytes: Double?
        /// Standbys that are connected, and others that receive WAL.
        public let standbys: Double?
        /// By how many bytes of WAL the farthest of them is behind; only where the role may read it.
        public let standbyLagBytes: Double?
        /// Bytes of WAL that are kept for replication slots, by slot.
        public let slotWALBytes: [String: Double]
        /// Whether its last attempt to archive WAL failed; nil where it archives none.
        public let archivingFails: Bool?
        /// By how much its clock is ahead, in seconds: the farthest that a service sees.
        public let clockOffsetSeconds: Double?
        /// Writes that it has refused since the services started.
        public let refusedWrites: Double
    }

    /// A queue with waiting work.
    public struct Queue: Sendable, Hashable, Encodable {
        /// Its name, such as `phone_events` or `webhooks.NAME`.
        public let name: String
        /// Items that wait.
        public let waiting: Double
        /// How long the oldest has waited, in seconds.
        public let oldestAgeSeconds: Double
        /// Items that wait for an operator.
        public let parked: Double
    }

    /// What `vestibule backup follow` says of the backups.
    public struct Backups: Sendable, Hashable, Encodable {
        /// How long ago PostgreSQL's log was last known to be received, in seconds.
        public let followedAgeSeconds: Double
        /// How long ago the newest whole backup was complete, in seconds.
        public let newestAgeSeconds: Double
        /// How often one is made, in seconds.
        public let intervalSeconds: Double
        /// Bytes of the log that were not received when last asked.
        public let logLagBytes: Double?
        /// The free space of their disk.
        public let diskFreeBytes: Double?

        /// Nil if nothing follows.
        init?(_ reading: MetricsReading, now: Double) {
            func value(_ name: String) -> Double? { reading.value("vestibule_backup_\(name)") }
            guard let followed = value("followed_timestamp_seconds"), let newest = value("newest_timestamp_seconds"),
                let interval = value("interval_seconds")
            else { return nil }
            followedAgeSeconds = max(0, now - followed)
            newestAgeSeconds = max(0, now - newest)
            intervalSeconds = interval
            logLagBytes = value("log_lag_bytes")
            diskFreeBytes = value("disk_free_bytes")
        }
    }

    /// The database.
    public let database: Database
    /// How long the current key of each kind has been in use, in seconds; empty without a folder of keys.
    public let keyAgeSeconds: [String: Double]
    /// Queues that aren't empty, by name.
    public let work: [Queue]
    /// The backups; nil where nothing that follows PostgreSQL was asked.
    public let backups: Backups?
    /// Whether NTP keeps the clocks of all machines right; nil if none says.
    public let clocksSynchronized: Bool?

    /// From what the programs say.
    ///
    /// - Parameter now: in seconds since 1970.
    public init(_ programs: [ProgramStatus], now: Double) {
        let readings = programs.compactMap(\.reading)
        func most(_ name: String) -> Double? { readings.compactMap { $0.value(name) }.max() }
        func most(_ name: String, by label: String, where labels: [String: String] = [:]) -> [String: Double] {
            var found: [String: Double] = [:]
            for sample in readings.flatMap({ $0.all(name) }) {
                guard let key = sample.labels[label], labels.allSatisfy({ sample.labels[$0.key] == $0.value }) else {
                    continue
                }
                found[key] = max(found[key] ?? -.infinity, sample.value)
            }
            return found
        }
        let offsets = readings.compactMap { $0.value("vestibule_database_clock_offset_seconds") }
        database = Database(
            timeline: most("vestibule_database_timeline"),
            sizeBytes: most("vestibule_database_size_bytes"),
            standbys: most("vestibule_database_standbys"),
            standbyLagBytes: most("vestibule_database_standby_lag_bytes"),
            slotWALBytes: most("vestibule_database_slot_wal_bytes", by: "slot"),
            archivingFails: most("vestibule_database_archiving_fails").map { $0 > 0 },
            clockOffsetSeconds: offsets.max { abs($0) < abs($1) },
            refusedWrites: readings.compactMap { $0.sum("vestibule_postgres_refused_writes_total") }.reduce(0, +)
        )
        let since = most(ProgramStatus.keysSince, by: "kind", where: ["state": "current"])
        keyAgeSeconds = since.mapValues { max(0, now - $0) }
        // Each replica says the same of a queue.
        let waiting = most("vestibule_work_waiting", by: "queue")
        let parked = most("vestibule_work_parked", by: "queue")
        let ages = most("vestibule_work_oldest_age_seconds", by: "queue")
        work = Set(waiting.keys).union(parked.keys).sorted().compactMap { name in
            let queue = Queue(
                name: name,
                waiting: waiting[name] ?? 0,
                oldestAgeSeconds: ages[name] ?? 0,
                parked: parked[name] ?? 0
            )
            return queue.waiting > 0 || queue.parked > 0 ? queue : nil
        }
        backups = readings.lazy.compactMap { Backups($0, now: now) }.first
        clocksSynchronized = readings.compactMap { $0.value("vestibule_clock_synchronized") }.min().map { $0 > 0 }
    }
}
