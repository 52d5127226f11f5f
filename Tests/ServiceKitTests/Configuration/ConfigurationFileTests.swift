import Glibc
import Testing

@testable import ServiceKit

struct ConfigurationFileTests {
    private static let key = ConfigurationKey.int("VESTIBULE_IDENTITY_N", in: 0...9, default: 1, help: "A number.")

    @Test func `Reads KEY=VALUE, comments, quotes and either line end`() {
        let text = "# comment\r\n\r\nA=1\r\n  B = two words \nC=\"quoted # not a comment\"\nD='='\nE="
        let (entries, faults) = ConfigurationFile.parse(text, name: "f")
        #expect(entries == ["A": "1", "B": "two words", "C": "quoted # not a comment", "D": "=", "E": ""])
        #expect(faults.isEmpty)
    }

    @Test func `A bad line or a doubled key is a fault without the line's content`() {
        let (_, faults) = ConfigurationFile.parse("A=1\nhunter2\n=x\nA=2", name: "f")
        #expect(
            faults.map(\.description) == [
                "f line 2 is not KEY=VALUE", "f line 3 is not KEY=VALUE", "A is given twice in f",
            ]
        )
    }

    @Test func `Is found by path or by VESTIBULE_CONFIG; its faults and those of values come together`() throws {
        let path = "/tmp/vestibule-configuration-\(getpid()).env"
        try write("VESTIBULE_IDENTITY_N=5\n", to: path)
        defer { unlink(path) }
        let byPath = try Configuration.load(keys: [Self.key], program: "identity", path: path, environment: [:])
        #expect(byPath[Self.key] == 5)
        let byVariable = try Configuration.load(
            keys: [Self.key],
            program: "identity",
            path: nil,
            environment: ["VESTIBULE_CONFIG": path, "VESTIBULE_IDENTITY_N": "6"]
        )
        #expect(byVariable[Self.key] == 6)

        try write("VESTIBULE_IDENTITY_N=50\nnonsense\nVESTIBULE_IDENTITY_M=1\nVESTIBULE_PROFILE_M=1\n", to: path)
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration.load(keys: [Self.key], program: "identity", path: path, environment: [:])
        }
        #expect(error?.faults.map(\.key) == [path, "VESTIBULE_IDENTITY_N", "VESTIBULE_IDENTITY_M"])
        #expect(throws: ConfigurationErrors.self) {
            try Configuration.load(keys: [Self.key], program: "identity", path: "/nonexistent", environment: [:])
        }
    }

    @Test func `Some keys can be read while others have faults, as healthcheck does`() throws {
        let path = "/tmp/vestibule-configuration-value-\(getpid()).env"
        try write("VESTIBULE_IDENTITY_N=5\nVESTIBULE_IDENTITY_M=1\n", to: path)
        defer { unlink(path) }
        #expect(try Configuration.load(only: [Self.key], path: path, environment: [:])[Self.key] == 5)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }
}

struct ConfigurationValueTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("5s", .seconds(5)), ("10m", .seconds(600)),
        ("2h", .seconds(7200)), ("30d", .seconds(2_592_000)), ("0s", .zero),
    ]
    )
    func `Durations are read and written`(_ text: String, _ duration: Duration) {
        #expect(DurationText.parse(text) == duration)
        #expect(DurationText.parse(DurationText.format(duration)) == duration)
    }

    @Test(arguments: ["", "5", "s", "-5s", "5 s", "5S", "1.5s", "5us", "9999999999999s", "100001d", "٥s", "5s5"]
    )
    func `Refuses texts that are no durations`(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test func `Durations are written in the largest unit that is exact`() {
        #expect(DurationText.format(.milliseconds(1500)) == "1500ms")
        #expect(DurationText.format(.seconds(90)) == "90s")
        #expect(DurationText.format(.seconds(3600)) == "1h")
        #expect(DurationText.format(.zero) == "0ms")
    }

    @Test(arguments: [
        ("127.0.0.1:7001", "127.0.0.1", 7001), ("identity:1", "identity", 1), ("[::1]:65535", "::1", 65_535),
        ("a-b.example_c:0", "a-b.example_c", 0),
    ]
    )
    func `Addresses are read and written`(_ text: String, _ host: String, _ port: Int) {
        #expect(HostPort(text) == HostPort(host: host, port: port))
        #expect(HostPort(text)?.description == text)
    }

    @Test(arguments: ["", ":80", "host", "host:", "host:65536", "host:-1", "::1:80", "[::1]", "ho st:1", "h:1 ", "h:٣"]
    )
    func `Refuses texts that are no addresses`(_ text: String) {
        #expect(HostPort(text) == nil)
    }
}
