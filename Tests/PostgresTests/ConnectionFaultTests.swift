import Testing

@testable import Postgres

struct ConnectionFaultTests {
    private static let known: [(String, ConnectionFault)] = [
        (#"could not translate host name "db" to address: Name or service not known"#, ConnectionFault.noAddress),
        ("the database's name has no address", .noAddress),
        ("looking up the database's name took too long", .noAddress),
        ("…: Connection refused; Is the server running on that host and accepting TCP/IP connections?", .refused),
        (#"connection to server on socket "/x/.s.PGSQL.5432" failed: No such file or directory"#, .refused),
        ("…: timeout expired", .timeout), ("connecting took too long", .timeout),
        ("the server took too long to begin a session", .timeout),
        (#"…: FATAL:  password authentication failed for user "vestibule_identity""#, .password),
        ("…: fe_sendauth: no password supplied", .noPassword),
        (#"…: FATAL:  role "vestibule_identity" does not exist"#, .noRole),
        (#"…: FATAL:  database "vestibule" does not exist"#, .noDatabase),
        (#"…: FATAL:  permission denied for database "vestibule""#, .noPrivilege),
        (#"…: FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "a", database "b", no encryption"#, .notAdmitted),
        ("…: SSL error: certificate verify failed", .certificate),
        (#"…: server certificate for "a" does not match host name "b""#, .certificate),
        (#"root certificate file "/none" does not exist"#, .certificate),
        ("…: server does not support SSL, but SSL was required", .noTLS),
        ("…: FATAL:  sorry, too many clients already", .tooMany),
        ("…: FATAL:  remaining connection slots are reserved for non-replication superuser connections", .tooMany),
        (#"…: FATAL:  too many connections for role "a""#, .tooMany),
    ]

    @Test(arguments: known)
    func `The words of libpq and PostgreSQL are known`(reason: String, fault: ConnectionFault) {
        #expect(ConnectionFault(reason: reason) == fault)
    }

    @Test(arguments: ["FATAL:  the database system is starting up", "session is read-only", "not connected yet", ""])
    func `Others say nothing about a setting`(reason: String) {
        #expect(ConnectionFault(reason: reason) == nil)
        var configuration = PostgresConfiguration(host: "a", user: "b", database: "c")
        configuration.advice = { "see \($0)" }
        #expect(configuration.advised(reason) == reason)
    }

    @Test func `Advice follows the reason, for PostgreSQL itself that of its own keys`() throws {
        var configuration = PostgresConfiguration(host: "a", user: "b", database: "c")
        configuration.advice = { "see A of \($0)" }
        configuration.directAdvice = { "see B of \($0)" }
        configuration.direct = ("d", 1)
        #expect(configuration.advised("timeout expired") == "timeout expired; see A of timeout")
        let session = try #require(configuration.forSessions)
        #expect(session.advised("timeout expired") == "timeout expired; see B of timeout")
    }
}
