/// What a running program says of itself.
public struct ProgramStatus: Sendable, Hashable {
    /// Its name: `identity`, `profile`, `invites` or `gateway`.
    public let program: String
    /// Where its metrics are.
    public let address: HostPort
    /// Nil if it doesn't answer there.
    public let reading: MetricsReading?

    /// The status of a program.
    public init(program: String, address: HostPort, reading: MetricsReading?) {
        self.program = program
        self.address = address
        self.reading = reading
    }

    /// Its version, such as "1.0.0".
    public var version: String? { reading?.all("vestibule_build_info").first?.labels["version"] }

    /// When it began, in seconds since 1970.
    public var startedAt: Double? { reading?.value("process_start_time_seconds") }

    /// Whether it takes calls; nil for a program that doesn't say.
    public var isReady: Bool? { reading?.value("vestibule_ready").map { $0 > 0 } }

    /// Its resident memory, in bytes.
    public var memoryBytes: Double? { reading?.value("process_resident_memory_bytes") }

    /// How many calls it has served, and how many of them failed by its own fault.
    public var calls: (all: Double, failed: Double)? {
        guard let reading else { return nil }
        let failures: Set = ["INTERNAL", "UNKNOWN", "DATA_LOSS", "UNAVAILABLE", "DEADLINE_EXCEEDED"]
        let rpc = reading.all("vestibule_rpc_server_calls_total").filter { $0.labels["method"] != "other" }
        // 503 of that route is the answer, not a failure.
        let http = reading.all("vestibule_http_requests_total").filter { $0.labels["route"] != "/readyz" }
        let failed =
            rpc.filter { failures.contains($0.labels["code"] ?? "") }
            + http.filter { $0.labels["status"]?.first == "5" }
        return ((rpc + http).map(\.value).reduce(0, +), failed.map(\.value).reduce(0, +))
    }

    /// Connections to PostgreSQL that take statements; nil for a program without a database.
    public var databaseConnections: Double? {
        guard let reading, reading.sum("vestibule_postgres_connections") != nil else { return nil }
        return ["ready", "leased"].map { reading.sum("vestibule_postgres_connections", where: ["state": $0]) ?? 0 }
            .reduce(0, +)
    }

    /// Since when identity's own keys are in their states.
    static let keysSince = "vestibule_identity_own_keys_since_timestamp_seconds"

    /// When the first of its certificates ends, in seconds since 1970; nil without TLS.
    public var certificateEnd: Double? {
        reading?.all("vestibule_tls_certificate_expiry_timestamp_seconds").map(\.value).min()
    }
}
