import Testing

@testable import ServiceKit

struct UnknownKeysTests {
    private let keys = ServiceKeys(program: "profile", listenPort: 7002)
    private var all: [any AnyConfigurationKey] { keys.all + [SharedKeys.identityAddress] }

    private func faults(file: [String: String]) -> [String] {
        do throws(ConfigurationErrors) {
            _ = try Configuration(keys: all, program: "profile", environment: [:], file: file)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    private func warnings(_ environment: [String: String]) throws -> [ConfigurationError] {
        try Configuration(keys: all, program: "profile", environment: environment).warnings
    }

    @Test(arguments: [
        ("VESTIBULE_PROFILE_LISTNE", "VESTIBULE_PROFILE_LISTEN"),
        ("VESTIBULE_PROFIEL_LISTEN", "VESTIBULE_PROFILE_LISTEN"),
        ("VESTIBULE_DATABASE_HOTS", "VESTIBULE_DATABASE_HOST"),
        ("VESTIBULE_PROFILE_DATABASE_PASSWORDFILE", "VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE"),
        // Another program's by its beginning, but what is meant is read here.
        ("VESTIBULE_IDENTITY_ADRESS", "VESTIBULE_IDENTITY_ADDRESS"),
    ]
    )
    func `A misspelt key of a file is a fault that names the right one`(_ written: String, _ meant: String) {
        #expect(
            faults(file: [written: "x"]) == [
                "\(written) is in the file, but there is no such key; did you mean \(meant)?"
            ]
        )
    }

    @Test func `A key that is like no other is a fault without a guess`() {
        #expect(
            faults(file: ["VESTIBULE_ZZZZZZZZZZZZ": "x"]) == [
                "VESTIBULE_ZZZZZZZZZZZZ is in the file, but there is no such key"
            ]
        )
        let long = "VESTIBULE_PROFILE_LISTEN" + String(repeating: "N", count: 5_000)
        let found = faults(file: [long: "x"])
        #expect(found.count == 1)
        #expect(found[0].utf8.count < 250 && !found[0].contains("did you mean"))
    }

    @Test func `Keys of other programs, shared ones and other people's names are in order`() throws {
        let file = [
            "VESTIBULE_INVITES_GROUP_MEMBERS": "x", "VESTIBULE_GATEWAY_LISTEN": "x", "VESTIBULE_REFLECTION": "true",
            "VESTIBULE_IDENTITY_ISSUER": "x", "VESTIBULE_PROFILE_DATABASE_PASSWORD_FILE": "", "POSTGRES_PASSWORD": "x",
        ]
        #expect(faults(file: file).isEmpty)
        #expect(try warnings(file).isEmpty)
    }

    @Test func `A misspelt key of the environment is a warning, which tells no value, and the program starts`() throws {
        let found = try warnings(["VESTIBULE_PROFILE_LISTNE": "hunter2", "VESTIBULE_LOG_LEVLE": "x"])
        #expect(
            found.map(\.description) == [
                "VESTIBULE_LOG_LEVLE is in the environment, but there is no such key; did you mean VESTIBULE_LOG_LEVEL?",
                "VESTIBULE_PROFILE_LISTNE is in the environment, but there is no such key; "
                    + "did you mean VESTIBULE_PROFILE_LISTEN?",
            ]
        )
        #expect(try warnings(["VESTIBULE_PROFILE_LISTNE": ""]).isEmpty)
        let forged = try #require(try warnings(["VESTIBULE_A\nB": "x"]).first)
        #expect(!forged.description.contains("\n"))
    }

    @Test(arguments: [
        ("VESTIBULE_SERVICE_HOST", "10.0.0.1"), ("VESTIBULE_SERVICE_PORT", "7002"),
        ("VESTIBULE_PROFILE_SERVICE_HOST", "10.0.0.1"), ("VESTIBULE_PROFILE_SERVICE_PORT_GRPC", "7002"),
        ("VESTIBULE_PROFILE_PORT", "tcp://10.0.0.1:7002"),
        ("VESTIBULE_PROFILE_PORT_7002_TCP", "tcp://10.0.0.1:7002"),
        ("VESTIBULE_PROFILE_PORT_7002_TCP_ADDR", "10.0.0.1"), ("VESTIBULE_PROFILE_PORT_7002_UDP_PROTO", "udp"),
        ("VESTIBULE_PORT_443_TCP_PORT", "443"), ("VESTIBULE_SECRETS", "/secrets"),
    ]
    )
    func `Variables set by Kubernetes and Docker are not ours`(_ name: String, _ value: String) throws {
        #expect(try warnings([name: value]).isEmpty)
        // People write files.
        if name != "VESTIBULE_SECRETS" { #expect(faults(file: [name: value]).count == 1) }
    }

    @Test(arguments: ["VESTIBULE_PROFILE_PORT", "VESTIBULE_PROFILE_TCP_ADDR"]
    )
    func `A variable that only resembles them gives a warning`(_ name: String) throws {
        #expect(try warnings([name: "7002"]).count == 1)
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("ab", "ba", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ]
    )
    func `The distance of two keys counts single changes`(_ left: String, _ right: String, _ distance: Int) {
        #expect(UnknownKeys.distance(Array(left.utf8), Array(right.utf8)) == distance)
        #expect(UnknownKeys.distance(Array(right.utf8), Array(left.utf8)) == distance)
    }
}
