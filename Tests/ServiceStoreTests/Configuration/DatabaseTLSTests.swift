import Postgres
import ServiceKit
import TestCertificates
import Testing

@testable import ServiceStore

struct DatabaseTLSTests {
    private func configuration(_ values: [String: String]) throws -> Configuration {
        try .testing(keys: ServiceKeys(program: "profile", listenPort: 7002).all, program: "profile", values)
    }

    @Test(arguments: [
        ("127.0.0.1", PostgresTLS.prefer), ("localhost", .prefer), ("::1", .prefer), ("/run/postgresql", .prefer),
        ("127.9.9.9, /run/postgresql", .prefer), ("postgres", .verifyFull(authoritiesFile: nil)),
        ("10.0.0.1", .verifyFull(authoritiesFile: nil)), ("127.0.0.1,db", .verifyFull(authoritiesFile: nil)),
        ("127.0.0.1.example.com", .verifyFull(authoritiesFile: nil)),
        ("127.evil.a.b", .verifyFull(authoritiesFile: nil)),
    ]
    )
    func `Nothing leaves the machine in clear unless that is said`(host: String, tls: PostgresTLS) throws {
        #expect(try configuration(["VESTIBULE_DATABASE_HOST": host]).databaseTLS == tls)
    }

    @Test func `A configured mode counts, for any host`() throws {
        for (word, tls) in [
            ("disable", PostgresTLS.disable), ("prefer", .prefer), ("require", .require),
            ("verify-full", .verifyFull(authoritiesFile: nil)),
        ] {
            for host in ["127.0.0.1", "db"] {
                let values = ["VESTIBULE_DATABASE_HOST": host, "VESTIBULE_DATABASE_TLS": word]
                #expect(try configuration(values).databaseTLS == tls)
            }
        }
        #expect(throws: ConfigurationErrors.self) { try configuration(["VESTIBULE_DATABASE_TLS": "yes"]) }
    }

    @Test
    func `Authorities are used on any host, must be readable, and make no sense where nothing is verified`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let given = try configuration(["VESTIBULE_DATABASE_CA_FILE": authority.file])
        #expect(given.databaseTLS == .verifyFull(authoritiesFile: authority.file))
        #expect(given.databaseTLSFaults.isEmpty)
        let missing = try configuration(["VESTIBULE_DATABASE_CA_FILE": "/nowhere/ca.pem"])
        #expect(missing.databaseTLSFaults.map(\.key) == ["VESTIBULE_DATABASE_CA_FILE"])
        let unused = try configuration([
            "VESTIBULE_DATABASE_CA_FILE": authority.file, "VESTIBULE_DATABASE_TLS": "require",
        ])
        #expect(unused.databaseTLSFaults.map(\.key) == ["VESTIBULE_DATABASE_CA_FILE"])
    }
}
