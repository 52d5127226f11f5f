import ServiceKit
import Testing

private enum Color: String, CaseIterable, Sendable {
    case red, green
}

private let port = ConfigurationKey.int("VESTIBULE_TEST_PORT", in: 1...10, default: 3, help: "A number.")
private let name = ConfigurationKey.string("VESTIBULE_TEST_NAME", help: "A text.")
private let limit = ConfigurationKey.duration(
    "VESTIBULE_TEST_LIMIT",
    in: .milliseconds(1) ... .seconds(60),
    default: .seconds(5),
    help: "A duration."
)
private let target = ConfigurationKey.address("VESTIBULE_TEST_TARGET", default: "127.0.0.1:7001", help: "An address.")
private let link = ConfigurationKey.url("VESTIBULE_TEST_LINK", default: "https://example.com/keys", help: "A URL.")
private let items = ConfigurationKey.list("VESTIBULE_TEST_ITEMS", default: ["a", "b"], help: "A list.", countMax: 3)
private let color = ConfigurationKey<Color>.choice("VESTIBULE_TEST_COLOR", default: .red, help: "A colour.")
private let flag = ConfigurationKey.bool("VESTIBULE_TEST_FLAG", default: false, help: "A flag.")
private let password = ConfigurationKey.secret("VESTIBULE_TEST_PASSWORD", help: "A password.")
private let keyFile = ConfigurationKey.optionalSecretFile("VESTIBULE_TEST_KEY_FILE", help: "A key.", bytesMax: 64)
private let all: [any AnyConfigurationKey] = [
    port, name, limit, target, link, items, color, flag, password, keyFile,
]

private func read(
    _ environment: [String: String],
    file: [String: String] = [:],
    files: [String: [UInt8]] = [:]
) throws(ConfigurationErrors) -> Configuration {
    try Configuration(keys: all, program: "test", environment: environment, file: file) {
        (path, bytesMax) throws(FileError) in
        guard let bytes = files[path] else { throw FileError("cannot be opened: no such file") }
        guard bytes.count <= bytesMax else { throw FileError("is too long") }
        return bytes
    }
}

private let required = ["VESTIBULE_TEST_NAME": "n", "VESTIBULE_TEST_PASSWORD": "hunter2"]

private func faults(
    _ environment: [String: String],
    file: [String: String] = [:],
    files: [String: [UInt8]] = [:]
) -> [ConfigurationError] {
    do throws(ConfigurationErrors) {
        _ = try read(required.merging(environment) { $1 }, file: file, files: files)
        return []
    } catch {
        return error.faults
    }
}

struct ConfigurationTests {
    @Test func `Takes the environment before the file before the default; an empty value counts as none`() throws {
        let configuration = try read(
            required.merging(["VESTIBULE_TEST_PORT": "7", "VESTIBULE_TEST_COLOR": " "]) { $1 },
            file: ["VESTIBULE_TEST_PORT": "8", "VESTIBULE_TEST_FLAG": "true", "VESTIBULE_TEST_COLOR": "green"]
        )
        #expect(configuration[port] == 7)
        #expect(configuration[flag])
        #expect(configuration[color] == .green)
        #expect(configuration[limit] == .seconds(5))
        #expect(configuration[items] == ["a", "b"])
        #expect(configuration[target] == HostPort(host: "127.0.0.1", port: 7001))
        #expect(configuration[keyFile] == nil)
        #expect(configuration.isGiven("VESTIBULE_TEST_FLAG"))
        #expect(!configuration.isGiven("VESTIBULE_TEST_LIMIT"))
    }

    @Test func `An optional address is checked if it is given`() throws {
        let key = ServiceKeys(program: "test", listenPort: 7001).metricsListen
        #expect(key.name == "VESTIBULE_TEST_METRICS_LISTEN")
        #expect(!key.isRequired)
        let none = try Configuration.load(keys: [key], program: "test", path: nil, environment: [:])
        #expect(none[key] == nil)
        let given = try Configuration.load(
            keys: [key],
            program: "test",
            path: nil,
            environment: ["VESTIBULE_TEST_METRICS_LISTEN": "[::1]:9464"]
        )
        #expect(given[key] == HostPort(host: "::1", port: 9464))
        #expect(throws: ConfigurationErrors.self) {
            try Configuration.load(
                keys: [key],
                program: "test",
                path: nil,
                environment: ["VESTIBULE_TEST_METRICS_LISTEN": "9464"]
            )
        }
    }

    @Test func `Reports all errors together, in the order of the keys, each with its name`() {
        let found = faults([
            "VESTIBULE_TEST_PORT": "11", "VESTIBULE_TEST_NAME": "", "VESTIBULE_TEST_LIMIT": "5",
            "VESTIBULE_TEST_TARGET": "nowhere", "VESTIBULE_TEST_LINK": "ftp://example.com",
            "VESTIBULE_TEST_ITEMS": "a,,b", "VESTIBULE_TEST_COLOR": "blue", "VESTIBULE_TEST_FLAG": "yes",
        ])
        #expect(
            found.map(\.key) == [
                "VESTIBULE_TEST_PORT", "VESTIBULE_TEST_NAME", "VESTIBULE_TEST_LIMIT", "VESTIBULE_TEST_TARGET",
                "VESTIBULE_TEST_LINK", "VESTIBULE_TEST_ITEMS", "VESTIBULE_TEST_COLOR", "VESTIBULE_TEST_FLAG",
            ]
        )
        #expect(found[0].description == #"VESTIBULE_TEST_PORT must be a whole number from 1 to 10, not "11""#)
        #expect(found[1].problem == "is required")
        #expect(ConfigurationErrors(found).description.split(separator: "\n").count == 8)
    }

    @Test(arguments: [
        "example.com", "http://", "https://user:pass@example.com/", "https://example.com/#top", "http://:80/",
        "https://exa mple.com", "https:///path",
    ]
    )
    func `Refuses URLs that aren't plain absolute HTTP ones`(_ text: String) {
        #expect(faults(["VESTIBULE_TEST_LINK": text]).map(\.key) == ["VESTIBULE_TEST_LINK"])
    }

    @Test func `Reads a secret from its variable or from the file in NAME_FILE, not from both`() throws {
        #expect(try read(required)[password].text == "hunter2")
        let fromFile = try read(
            ["VESTIBULE_TEST_NAME": "n", "VESTIBULE_TEST_PASSWORD_FILE": "/p"],
            files: ["/p": Array("pw\r\n".utf8)]
        )
        #expect(fromFile[password].text == "pw")
        #expect(
            faults(["VESTIBULE_TEST_PASSWORD_FILE": "/p"]).map(\.problem) == [
                "is given twice, once as VESTIBULE_TEST_PASSWORD_FILE"
            ]
        )
        let raw = try read(required.merging(["VESTIBULE_TEST_KEY_FILE": "/k"]) { $1 }, files: ["/k": [0, 10]])
        #expect(raw[keyFile]?.bytes == [0, 10])
    }

    @Test func `An error about a secret names the file and never the value`() {
        let missing = faults(["VESTIBULE_TEST_KEY_FILE": "/none"])
        #expect(
            missing.map(\.description) == [
                "VESTIBULE_TEST_KEY_FILE names the file /none, which cannot be opened: no such file"
            ]
        )
        let empty = faults(["VESTIBULE_TEST_KEY_FILE": "/e"], files: ["/e": []])
        #expect(empty.map(\.problem) == ["names the file /e, which is empty"])
        let twice = faults(["VESTIBULE_TEST_PASSWORD_FILE": "/p"], files: ["/p": Array("pw".utf8)])
        #expect(!twice.description.contains("hunter2"))
    }

    @Test func `An unknown key of this program in the file is an error, and other programs' keys aren't`() {
        let found = faults(
            [:],
            file: [
                "VESTIBULE_TEST_PROT": "1", "VESTIBULE_IDENTITY_LISTEN": "x", "VESTIBULE_LOG_LEVEL": "x",
                "POSTGRES_PASSWORD": "x", "VESTIBULE_TEST_PASSWORD_FILE": "",
            ]
        )
        #expect(
            found.map(\.description) == [
                "VESTIBULE_TEST_PROT is in the file, but there is no such key; did you mean VESTIBULE_TEST_PORT?"
            ]
        )
    }

    @Test
    func `A key is also read by its former name, with a warning, but two different values are refused`() throws {
        let key = ConfigurationKey.int("VESTIBULE_TEST_COUNT", in: 1...10, default: 3, help: "A number.")
            .formerly("VESTIBULE_TEST_NUMBER", "VESTIBULE_OTHER_NUMBER")
        func read(_ environment: [String: String], file: [String: String] = [:]) throws -> Configuration {
            try Configuration(keys: [key], program: "test", environment: environment, file: file)
        }
        #expect(try read([:])[key] == 3)
        #expect(try read(["VESTIBULE_TEST_COUNT": "4"]).warnings.isEmpty)
        for former in key.formerNames {
            let given = try read([:], file: [former: "4"])
            #expect(given[key] == 4)
            #expect(given.warnings.map(\.description) == ["\(former) is a former name: call it VESTIBULE_TEST_COUNT"])
            #expect(try read([former: "4", "VESTIBULE_TEST_COUNT": "4"])[key] == 4)
            let faults = try #require(throws: ConfigurationErrors.self) {
                try read([former: "4"], file: ["VESTIBULE_TEST_COUNT": "5"])
            }
            #expect(
                faults.description
                    == "VESTIBULE_TEST_COUNT is given as VESTIBULE_TEST_COUNT and as \(former), with different values"
            )
            // Errors use the current name.
            let fault = try #require(throws: ConfigurationErrors.self) { try read([former: "11"]) }
            #expect(fault.faults.map(\.key) == ["VESTIBULE_TEST_COUNT"])
        }
    }

    @Test func `A control character or a long value in an error can't fill or forge lines`() throws {
        let fault = try #require(faults(["VESTIBULE_TEST_COLOR": "a\nb" + String(repeating: "c", count: 500)]).first)
        #expect(!fault.description.contains("\n"))
        #expect(fault.description.count < 200)
    }

    @Test func `Help lists every key with its kind, default and purpose`() {
        let text = ConfigurationHelp.text(all)
        for key in all {
            #expect(text.contains(key.name))
            #expect(text.contains(key.help))
        }
        #expect(text.contains("VESTIBULE_TEST_PORT (1 to 10; default 3)"))
        #expect(text.contains("VESTIBULE_TEST_NAME (text; required)"))
        #expect(text.contains("VESTIBULE_TEST_PASSWORD or VESTIBULE_TEST_PASSWORD_FILE (secret; required)"))
        #expect(text.contains("VESTIBULE_TEST_KEY_FILE (path of a secret; optional)"))
        #expect(text.contains("VESTIBULE_TEST_LIMIT (duration, 1ms to 1m; default 5s)"))
    }
}
