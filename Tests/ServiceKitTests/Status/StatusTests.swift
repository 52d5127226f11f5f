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

    @Test(arguments: [
        ("vestibule_ready 1", "vestibule_ready 0", Finding.Severity.failure, "is not ready"),
        ("-4.5", "-5.5", .failure, "differ by 6 s"),
        ("{reason=\"disk_full\"} 0", "{reason=\"disk_full\"} 3", .warning, "refused 3 writes"),
        ("parked{queue=\"events\"} 0", "parked{queue=\"events\"} 2", .warning, "vestibule work list --queue events"),
        ("seconds{queue=\"events\"} 12", "seconds{queue=\"events\"} 301", .warning, "waits for 301 s"),
        ("1801000000", "1800500000", .warning, "ends in 5 days"),
        ("1801000000", "1799999999", .failure, "has ended"),
    ])
    func `Each fault is found`(healthy: String, faulty: String, severity: Finding.Severity, words: String) throws
    {
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
}
