import RPCTransport
import ServiceKit
import TestCertificates
import Testing

@testable import ServiceStore

struct ExposureTests {
    private let keys = ServiceKeys(program: "profile", listenPort: 7002)

    private func exposure(_ values: [String: String]) throws -> Exposure {
        Exposure(keys: keys, configuration: try Configuration.testing(keys: keys.all, program: "profile", values))
    }

    /// Keys whose files are looked at elsewhere.
    private let secured = [
        "VESTIBULE_PROFILE_TLS_CERTIFICATE_FILE": "/c", "VESTIBULE_PROFILE_TLS_KEY_FILE": "/k",
        "VESTIBULE_PROFILE_TLS_CLIENT_CA_FILE": "/a", "VESTIBULE_PROFILE_TLS_ALLOW": "gateway *",
    ]

    @Test(arguments: ["127.0.0.1:7002", "127.9.8.7:7002", "[::1]:7002", "localhost:7002", "[::ffff:127.0.0.1]:7002"]
    )
    func `On loopback nothing is asked for`(_ address: String) throws {
        let exposure = try exposure(["VESTIBULE_PROFILE_LISTEN": address])
        #expect(exposure.faults.isEmpty && exposure.warning == nil)
    }

    @Test(arguments: [
        "0.0.0.0:7002", "[::]:7002", "10.0.0.1:7002", "profile:7002", "127.0.0.1.example.com:7002", "127.1:7002",
    ]
    )
    func `Elsewhere it needs a certificate, the callers' authorities and the rules`(_ address: String) throws {
        let listen = ["VESTIBULE_PROFILE_LISTEN": address]
        let found = try exposure(listen).faults
        #expect(found.map(\.key) == ["VESTIBULE_PROFILE_LISTEN"])
        for name in ["TLS_CERTIFICATE_FILE", "TLS_CLIENT_CA_FILE", "TLS_ALLOW", "INSECURE=true"] {
            #expect(found[0].problem.contains("VESTIBULE_PROFILE_\(name)"))
        }
        let whole = try exposure(listen.merging(secured) { $1 })
        #expect(whole.faults.isEmpty && whole.warning == nil)
    }

    @Test(arguments: ["CERTIFICATE_FILE", "CLIENT_CA_FILE", "ALLOW"])
    func `Each of the three alone is missed`(_ name: String) throws {
        var values = secured.merging(["VESTIBULE_PROFILE_LISTEN": "0.0.0.0:7002"]) { $1 }
        values["VESTIBULE_PROFILE_TLS_\(name)"] = nil
        let found = try exposure(values).faults
        #expect(found.count == 1)
        #expect(found.first?.problem.contains("needs VESTIBULE_PROFILE_TLS_\(name);") == true)
        values["VESTIBULE_PROFILE_INSECURE"] = "true"
        let allowed = try exposure(values)
        #expect(allowed.faults.isEmpty)
        #expect(allowed.warning?.contains("VESTIBULE_PROFILE_TLS_\(name)") == true)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A service that strangers could reach doesn't start; told to, it does`() async throws {
        func serve(_ more: [String: String]) async throws {
            let values = ["VESTIBULE_PROFILE_LISTEN": "0.0.0.0:0", "VESTIBULE_DATABASE_HOST": "/nonexistent"]
            let configuration = try Configuration.testing(
                keys: keys.all,
                program: "profile",
                values.merging(["VESTIBULE_EVENT_LOOPS": "1"]) { $1 }.merging(more) { $1 }
            )
            try await ServiceRuntime(keys: keys, configuration: configuration, migrations: [])
                .serve({ _ in ServiceParts(services: []) }, until: {})
        }
        await #expect(throws: ConfigurationErrors.self) { try await serve([:]) }
        try await serve(["VESTIBULE_PROFILE_INSECURE": "true"])
    }

    @Test func `Reflection must be asked for`() throws {
        let configuration = try Configuration.testing(keys: keys.all, program: "profile")
        #expect(!configuration[SharedKeys.reflection])
    }
}
