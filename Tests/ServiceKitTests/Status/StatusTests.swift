import Testing

@testable import ServiceKit

struct StatusTests {
    private static let now = 1_800_000_000.0
    private static let well = """
        vestibule_build_info{program="identity",version="1.0.0",mode="release"} 1
        vestibule_ready 1
        process_start_time_seconds 1799999000
        vestibule_postgres_connections{loop="0",state="ready"} 3
        vestibule_postgres_connections{loop="0",state="leased"} 1
        vestibule_postgres_connections{loop="0",state="pending"} 7
        vestibule_postgres_refused_writes_total{reason="disk_full"} 0
        vestibule_database_clock_offset_seconds -4.5
        vestibule_work_parked{queue="events"} 0
        vestibule_work_oldest_age_seconds{queue="events"} 12
        vestibule_rpc_server_calls_total{method="a",code="OK"} 10
        vestibule_rpc_server_calls_total{method="a",code="INTERNAL"} 2
        vestibule_rpc_server_calls_total{method="a",code="NOT_FOUND"} 4
        vestibule_tls_certificate_expiry_timestamp_seconds{use="server"} 1801000000
        vestibule_clock_synchronized 1
        vestibule_database_slot_wal_bytes{slot="away"} 1000000
        vestibule_database_archiving_fails 0
        vestibule_identity_webhooks_stopped{target="shop"} 0
        vestibule_identity_own_keys_since_timestamp_seconds{kind="vault",state="current"} 1799000000
        vestibule_identity_own_keys_since_timestamp_seconds{kind="vault",state="next"} 1799990000
        vestibule_identity_own_keys_since_timestamp_seconds{kind="vault",state="retired"} 1
        """

    private func status(_ text: String?, program: String = "identity") -> ProgramStatus {
        ProgramStatus(
            program: program,
            address: HostPort(host: "127.0.0.2", port: 7001),
            reading: text.map(MetricsReading.init)
        )
    }

    private func findings(_ text: String?) -> [Finding] {
        Finding.findings([status(text)], now: Self.now)
    }

    @Test func `A program that is well has no findings`() throws {
        let status = status(Self.well)
        #expect(findings(Self.well).isEmpty)
        #expect(status.version == "1.0.0")
        #expect(status.databaseConnections == 4)
        let calls = try #require(status.calls)
        #expect(calls.all == 16 && calls.failed == 2)
    }

    @Test func `A gateway that says it isn't ready has failed in no call`() throws {
        let text = """
            vestibule_http_requests_total{route="/readyz",status="503"} 7
            vestibule_http_requests_total{route="/me",status="200"} 3
            vestibule_http_requests_total{route="/me",status="503"} 1
            """
        let calls = try #require(status(text, program: "gateway").calls)
        #expect(calls.all == 4 && calls.failed == 1)
    }

    private static let faults: [(String, String, Finding.Severity, String)] = [
        ("vestibule_ready 1", "vestibule_ready 0", .failure, "is not ready"),
        ("-4.5", "-5.5", .failure, "differ by 6 s"),
        ("{reason=\"disk_full\"} 0", "{reason=\"disk_full\"} 3", .warning, "refused 3 writes"),
        ("parked{queue=\"events\"} 0", "parked{queue=\"events\"} 2", .warning, "vestibule work list --queue events"),
        ("seconds{queue=\"events\"} 12", "seconds{queue=\"events\"} 301", .warning, "waits for 301 s"),
        ("synchronized 1", "synchronized 0", .warning, "no NTP"),
        ("{slot=\"away\"} 1000000", "{slot=\"away\"} 5000000000", .warning, "pg_drop_replication_slot('away')"),
        ("archiving_fails 0", "archiving_fails 1", .warning, "can't archive"),
        ("{target=\"shop\"} 0", "{target=\"shop\"} 1", .warning, "the webhook shop"),
        (
            "state=\"current\"} 1799000000", "state=\"current\"} 1791600000", .warning,
            "vault key has been in use for 97 days"
        ),
        ("state=\"next\"} 1799990000", "state=\"next\"} 1799800000", .warning, "stopped 2 days ago"),
        ("1801000000", "1800500000", .warning, "ends in 5 days"),
        ("1801000000", "1799999999", .failure, "has ended"),
    ]

    @Test(arguments: faults)
    func `Each fault is found`(healthy: String, faulty: String, severity: Finding.Severity, words: String) throws {
        let text = Self.well.replacing(healthy, with: faulty)
        #expect(text != Self.well)
        let found = findings(text)
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.severity == severity)
        #expect(finding.text.contains(words))
    }

    @Test func `Without connections the database is away`() {
        let text = Self.well.replacing("state=\"ready\"} 3", with: "state=\"ready\"} 0")
            .replacing("state=\"leased\"} 1", with: "state=\"leased\"} 0")
        #expect(findings(text).map(\.text) == ["has no connection to PostgreSQL"])
    }

    @Test func `A program that doesn't answer comes first`() {
        let parked = Self.well.replacing("parked{queue=\"events\"} 0", with: "parked{queue=\"events\"} 2")
        let found = Finding.findings([status(parked), status(nil, program: "profile")], now: Self.now)
        #expect(found.map(\.severity) == [.failure, .warning])
        #expect(found[0].subject == "profile at 127.0.0.2:7001")
        #expect(found[0].text.contains("VESTIBULE_PROFILE_METRICS_LISTEN"))
    }

    @Test func `Two versions are noticed`() {
        let other = Self.well.replacing("version=\"1.0.0\"", with: "version=\"1.1.0\"")
        let found = Finding.findings([status(Self.well), status(other)], now: Self.now)
        #expect(found.map(\.text) == ["several versions run: 1.0.0, 1.1.0; finish the upgrade, or go back"])
    }

    @Test func `What several programs say of one PostgreSQL is one finding`() {
        let text = Self.well.replacing("archiving_fails 0", with: "archiving_fails 1")
            .replacing("synchronized 1", with: "synchronized 0")
        let found = Finding.findings([status(text), status(text, program: "profile")], now: Self.now)
        #expect(found.map(\.subject) == ["identity at 127.0.0.2:7001, profile at 127.0.0.2:7001", "PostgreSQL"])
    }

    @Test func `Backups that are followed are well, and old ones are failures`() throws {
        func following(_ followed: Int, newest: Int) -> ProgramStatus {
            status(
                """
                vestibule_backup_followed_timestamp_seconds \(Int(Self.now) - followed)
                vestibule_backup_newest_timestamp_seconds \(Int(Self.now) - newest)
                vestibule_backup_interval_seconds 86400
                vestibule_backup_log_lag_bytes 512
                vestibule_backup_disk_free_bytes 4000000000
                """,
                program: "backup"
            )
        }
        let well = following(3, newest: 86_500)
        let backups = try #require(SystemStatus([well], now: Self.now).backups)
        #expect(backups.followedAgeSeconds == 3 && backups.newestAgeSeconds == 86_500)
        #expect(backups.logLagBytes == 512 && backups.diskFreeBytes == 4_000_000_000)
        #expect(Finding.findings([well], now: Self.now).isEmpty)
        let silent = Finding.findings([following(301, newest: 10)], now: Self.now)
        #expect(silent.map(\.problem) == ["PostgreSQL's log has not been received for 301 s"])
        let old = Finding.findings([following(3, newest: 86_400 * 2)], now: Self.now)
        #expect(old.map(\.problem) == ["the newest whole backup is 48 hours old"])
        #expect((silent + old).allSatisfy { $0.severity == .failure })
        #expect(SystemStatus([status(Self.well)], now: Self.now).backups == nil)
    }

    @Test func `What the programs share is summed up`() {
        let other = """
            vestibule_database_timeline 3
            vestibule_database_size_bytes 12000000
            vestibule_database_standbys 2
            vestibule_database_standby_lag_bytes 4096
            vestibule_database_clock_offset_seconds -0.25
            vestibule_clock_synchronized 0
            vestibule_postgres_refused_writes_total{reason="read_only"} 4
            vestibule_work_waiting{queue="phone_events"} 3
            vestibule_work_oldest_age_seconds{queue="phone_events"} 61
            vestibule_work_parked{queue="phone_events"} 0
            """
        let system = SystemStatus([status(Self.well), status(other), status(nil)], now: Self.now)
        #expect(system.database.timeline == 3 && system.database.sizeBytes == 12_000_000)
        #expect(system.database.standbys == 2 && system.database.standbyLagBytes == 4096)
        #expect(system.database.slotWALBytes == ["away": 1_000_000] && system.database.archivingFails == false)
        #expect(system.database.clockOffsetSeconds == -4.5 && system.database.refusedWrites == 4)
        #expect(system.keyAgeSeconds == ["vault": 1_000_000])
        #expect(system.work.map(\.name) == ["phone_events"] && system.work.first?.oldestAgeSeconds == 61)
        #expect(system.clocksSynchronized == false)
        let nothing = SystemStatus([], now: Self.now)
        #expect(nothing.database.timeline == nil && nothing.work.isEmpty && nothing.clocksSynchronized == nil)
    }
}
