import Foundation
import Testing

@testable import ServiceKit

struct DoctorTests {
    private static let rights: [(FileRights, Finding.Severity?)] = [
        (FileRights(mode: 0o600, isOwn: true, isReached: true), nil),
        (FileRights(mode: 0o640, isOwn: true, isReached: true), nil),
        (FileRights(mode: 0o444, isOwn: true, isReached: true), .warning),
        (FileRights(mode: 0o666, isOwn: true, isReached: true), .failure),
        // In a folder that only its owner may enter, as `vestibule init` makes it.
        (FileRights(mode: 0o444, isOwn: true, isReached: false), nil),
        // As a container sees it.
        (FileRights(mode: 0o444, isOwn: false, isReached: true), nil),
    ]

    @Test(arguments: rights)
    func `A secret that others may read is found`(rights: FileRights, severity: Finding.Severity?) {
        #expect(rights.finding("KEY", "/a")?.severity == severity)
    }

    @Test func `The rights of folders on the way count`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "vestibule-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/secret"
        try Data([1]).write(to: URL(filePath: file))
        chmod(file, 0o444)
        chmod(folder, 0o700)
        #expect(FileRights(path: file)?.finding("KEY", file) == nil)
        #expect(FileRights(path: folder + "/none") == nil)
    }

    private static let disks: [(UInt64, UInt64, Finding.Severity?)] = [
        (5_000_000_000, 100_000_000_000, nil), (500_000_000, 2_000_000_000, nil),
        (900_000_000, 10_000_000_000, .warning), (99_000_000, 200_000_000, .failure),
    ]

    @Test(arguments: disks)
    func `A disk with little room is found`(free: UInt64, all: UInt64, severity: Finding.Severity?) {
        #expect(DiskSpace(freeBytes: free, allBytes: all).finding("KEY", "/a")?.severity == severity)
    }

    private static let urls: [(String?, String?, Int)] = [
        ("https://a.example", "https://a.example", 0), ("https://a.example/", "https://a.example", 0),
        ("https://a.example", nil, 0), (nil, nil, 0), ("http://127.0.0.1:8080", "http://localhost:8080", 1),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", 0), ("http://a.example", "http://a.example", 2),
        ("https://a.example", "https://b.example", 1), ("http://[::1]:80", nil, 0), ("http://localhost/x", nil, 0),
    ]

    @Test(arguments: urls)
    func `Public URLs that don't fit are found`(issuer: String?, gateway: String?, count: Int) {
        #expect(PublicURLs(issuer: issuer, gateway: gateway).findings.count == count)
    }

    private static let ends: [(Int, Finding.Severity?)] = [(-1, .failure), (518_400, .warning), (691_200, nil)]

    @Test(arguments: ends)
    func `A certificate that ends is found`(secondsLeft: Int, severity: Finding.Severity?) {
        #expect(ExaminedCertificate.endFinding("KEY", "/a", secondsLeft: secondsLeft)?.severity == severity)
    }

    @Test func `Findings of several programs are one each, failures first`() {
        let found = [
            Finding(.warning, "A", "is odd", mend: "mend it"), Finding(.failure, "B", "is wrong"),
            Finding(.warning, "C", "is odd", mend: "mend it"), Finding(.warning, "A", "is odd", mend: "mend it"),
            Finding(.warning, "A", "is odd"),
        ]
        #expect(
            found.merged.map(\.line) == [
                "failure: B is wrong", "warning: A, C is odd; mend it", "warning: A is odd",
            ]
        )
        #expect(found.hasFailure && ![Finding]().hasFailure)
        #expect(Finding(.warning, "A\u{1B}[2J", "b\nc").line == "warning: A?[2J b?c")
    }

    @Test func `An address is free, taken by a process, or no address of this machine`() throws {
        // A program that another test runs meanwhile must not have it, too.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                #expect(bind(listener, pointer, size) == 0 && listen(listener, 1) == 0)
                getsockname(listener, pointer, &size)
            }
        }
        let port = Int(UInt16(bigEndian: address.sin_port))
        let trial = ListenTrial(HostPort(host: "127.0.0.1", port: port))
        guard case .taken(let holder?) = trial else { return #expect(Bool(false), "\(trial)") }
        #expect(holder.hasSuffix("(pid \(getpid()))"))
        #expect(ListenTrial(HostPort(host: "127.0.0.1", port: 0)) == .free)
        #expect(ListenTrial(HostPort(host: "192.0.2.1", port: 80)) == .refused(code: EADDRNOTAVAIL))
        #expect(ListenTrial(HostPort(host: "nowhere.invalid", port: 80)) == .noHost)
    }

    @Test func `Files with secrets are those of secrets, private keys and folders of keys`() throws {
        let keys: [any AnyConfigurationKey] = [
            ConfigurationKey.optionalSecret("VESTIBULE_TEST_PASSWORD", help: "."),
            ConfigurationKey.optionalSecretFile("VESTIBULE_TEST_SALT_FILE", help: "."),
            ConfigurationKey.optionalPath("VESTIBULE_TEST_TLS_KEY_FILE", help: "."),
            ConfigurationKey.optionalPath("VESTIBULE_TEST_TLS_CERTIFICATE_FILE", help: "."),
            ConfigurationKey.optionalPath("VESTIBULE_TEST_KEYS_FOLDER", help: "."),
        ]
        let values = [
            "VESTIBULE_TEST_PASSWORD_FILE": "a", "VESTIBULE_TEST_SALT_FILE": "b", "VESTIBULE_TEST_TLS_KEY_FILE": "c",
            "VESTIBULE_TEST_TLS_CERTIFICATE_FILE": "d", "VESTIBULE_TEST_KEYS_FOLDER": "e",
        ]
        let configuration = try Configuration(keys: keys, program: "test", environment: values) {
            (_, _) throws(FileError) in [1]
        }
        #expect(configuration.secretFiles.map(\.path) == ["a", "b", "c", "e"])
        #expect(configuration.secretFiles.first?.key == "VESTIBULE_TEST_PASSWORD_FILE")
    }
}
