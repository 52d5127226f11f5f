import FoundationEssentials
import RPC
import RPCTransport
import TestCertificates
import Testing

@testable import ServiceKit

struct TLSKeysTests {
    private static let keys = ServiceKeys(program: "identity", listenPort: 7001)

    private func configuration(_ values: [String: String]) throws -> Configuration {
        try Configuration.testing(keys: Self.keys.all, program: "identity", values)
    }

    private func faults(_ values: [String: String]) throws -> [ConfigurationError] {
        let configuration = try configuration(values)
        return Self.keys.tls.faults(configuration) + Self.keys.channels.faults(configuration)
    }

    @Test func `Without TLS keys connections are clear text, with round robin`() throws {
        let configuration = try configuration([:])
        #expect(Self.keys.tls.settings(configuration) == nil)
        #expect(Self.keys.channels.settings(configuration).tls == nil)
        #expect(try faults([:]).isEmpty)
    }

    @Test func `Files that match have no errors`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let own = try authority.issue("identity", names: "DNS:identity")
        let values = [
            "VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": try #require(own.certificateChainFile),
            "VESTIBULE_IDENTITY_TLS_KEY_FILE": try #require(own.privateKeyFile),
            "VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": authority.file,
            "VESTIBULE_IDENTITY_TLS_ALLOW": "gateway vestibule.identity.v1.IdentityService/*",
            "VESTIBULE_SERVICES_CA_FILE": authority.file,
            "VESTIBULE_IDENTITY_TLS_CLIENT_CERTIFICATE_FILE": try #require(own.certificateChainFile),
            "VESTIBULE_IDENTITY_TLS_CLIENT_KEY_FILE": try #require(own.privateKeyFile),
        ]
        #expect(try faults(values).isEmpty)
        let configuration = try configuration(values)
        var server = own
        server.authoritiesFile = authority.file
        #expect(Self.keys.tls.settings(configuration) == server)
        #expect(Self.keys.channels.settings(configuration).tls == server)
        let signIn = MethodDescriptor(service: "vestibule.identity.v1.IdentityService", method: "SignIn")
        #expect(configuration[Self.keys.tls.allowList]?.allows(["gateway"], signIn) == true)
    }

    @Test func `All errors are reported together, by key`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let (one, two) = (try authority.issue("one", names: "DNS:a"), try authority.issue("two", names: "DNS:b"))
        let found = try faults([
            "VESTIBULE_IDENTITY_TLS_CERTIFICATE_FILE": try #require(one.certificateChainFile),
            "VESTIBULE_IDENTITY_TLS_KEY_FILE": try #require(two.privateKeyFile),
            "VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": "/nowhere/clients.pem",
            "VESTIBULE_SERVICES_CA_FILE": try #require(one.privateKeyFile),
            "VESTIBULE_IDENTITY_TLS_CLIENT_CERTIFICATE_FILE": try #require(one.certificateChainFile),
        ])
        #expect(
            found.map(\.key) == [
                "VESTIBULE_IDENTITY_TLS_KEY_FILE", "VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE",
                "VESTIBULE_SERVICES_CA_FILE", "VESTIBULE_IDENTITY_TLS_CLIENT_CERTIFICATE_FILE",
            ]
        )
        #expect(found[1].problem.contains("/nowhere/clients.pem"))
        #expect(found[3].problem.contains("VESTIBULE_IDENTITY_TLS_CLIENT_KEY_FILE"))
    }

    @Test func `Keys that need another one say so`() throws {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let found = try faults([
            "VESTIBULE_IDENTITY_TLS_ALLOW": "gateway *",
            "VESTIBULE_IDENTITY_TLS_KEY_FILE": "/nowhere/key.pem",
        ])
        #expect(found.map(\.key) == ["VESTIBULE_IDENTITY_TLS_ALLOW", "VESTIBULE_IDENTITY_TLS_KEY_FILE"])
        let other = try faults(["VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE": authority.file])
        #expect(other.map(\.key) == ["VESTIBULE_IDENTITY_TLS_CLIENT_CA_FILE"])
    }

    @Test func `Rules are given as the value or in a file, and are checked`() throws {
        #expect(throws: ConfigurationErrors.self) { try configuration(["VESTIBULE_IDENTITY_TLS_ALLOW": "gateway"]) }
        let path = FileManager.default.temporaryDirectory.path + "/vestibule-allow-\(UUID().uuidString)"
        try "# who\ngateway *\n".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let read = try configuration(["VESTIBULE_IDENTITY_TLS_ALLOW_FILE": path])
        #expect(read[Self.keys.tls.allowList] == PeerAllowList([.init(peer: "gateway", method: "*")]))
        #expect(throws: ConfigurationErrors.self) {
            try configuration([
                "VESTIBULE_IDENTITY_TLS_ALLOW_FILE": path, "VESTIBULE_IDENTITY_TLS_ALLOW": "gateway *",
            ])
        }
    }

    @Test func `Every key is in the help`() {
        let text = ConfigurationHelp.text(Self.keys.all)
        for key in Self.keys.tls.all + Self.keys.channels.all { #expect(text.contains("\(key.name) ")) }
        #expect(text.contains("VESTIBULE_IDENTITY_TLS_ALLOW or VESTIBULE_IDENTITY_TLS_ALLOW_FILE"))
    }

    @Test(arguments: ["127.0.0.1:7001", "a:1,b:2", "[::1]:7001, identity:7002"])
    func `A key may hold several addresses`(text: String) throws {
        let list = try #require(AddressList(text))
        #expect(list.description == text.filter { $0 != " " })
        #expect(throws: Never.self) { try configuration([:]) }
    }

    @Test(arguments: ["", ",", "a:1,", "a", "a:1;b:2", "a:1,,b:2"])
    func `A malformed list of addresses is refused`(text: String) { #expect(AddressList(text) == nil) }
}
