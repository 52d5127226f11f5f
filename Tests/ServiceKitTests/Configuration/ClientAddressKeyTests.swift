import RPC
import Testing

@testable import ServiceKit

struct ClientAddressKeyTests {
    private let key = ClientAddressKey(Secret([UInt8](repeating: 1, count: 32)), service: "profile")

    private func code(_ address: String, _ key: ClientAddressKey? = nil) -> [UInt8]? {
        (key ?? self.key).code(of: Metadata([ClientAddressKey.metadataName: address]))
    }

    @Test func `An address has a code of its own, a household of IPv6 one for all its addresses`() {
        #expect(code("192.0.2.1")?.count == 32)
        #expect(code("192.0.2.1") == code("192.0.2.1"))
        #expect(code("192.0.2.1") == code("::ffff:192.0.2.1"))
        #expect(code("192.0.2.1") != code("192.0.2.2"))
        #expect(code("2001:db8::1") == code("2001:DB8:0:0:ffff::2"))
        #expect(code("2001:db8::1") == code("2001:db8:0:ff::1"))
        #expect(code("2001:db8::1") != code("2001:db8:0:100::1"))
    }

    @Test func `A site of IPv6 has a code, and IPv4 has none`() {
        func site(_ address: String) -> [UInt8]? {
            key.siteCode(of: Metadata([ClientAddressKey.metadataName: address]))
        }
        #expect(site("2001:db8:7::1")?.count == 32)
        #expect(site("2001:db8:7::1") == site("2001:db8:7:ffff::1"))
        #expect(site("2001:db8:7::1") != site("2001:db8:8::1"))
        #expect(site("2001:db8:7::1") != code("2001:db8:7::1"))
        for address in ["192.0.2.1", "::ffff:192.0.2.1", "fd00::1", "::1", "x"] { #expect(site(address) == nil) }
    }

    @Test func `The code is of no use to another service, and none without the key`() {
        #expect(code("192.0.2.1") != code("192.0.2.1", ClientAddressKey(Secret([1]), service: "profile")))
        let invites = ClientAddressKey(Secret([UInt8](repeating: 1, count: 32)), service: "invites")
        #expect(code("192.0.2.1") != code("192.0.2.1", invites))
    }

    @Test(arguments: [
        "", "127.0.0.1", "127.200.1.1", "::1", "::ffff:127.0.0.1", "192.0.2.1:80", "[2001:db8::1]", "192.0.2",
        "unknown", "10.1.2.3", "172.18.0.1", "172.31.255.255", "192.168.1.1", "169.254.1.1", "::ffff:172.18.0.1",
        "fd00::1", "fe80::1",
        "192.0.2.1, 192.0.2.2", String(repeating: "1", count: 5_000),
    ]
    )
    func `Invalid, loopback and private addresses have no code`(_ text: String) {
        #expect(code(text) == nil)
    }

    @Test(arguments: ["11.0.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1"]
    )
    func `Addresses next to a private network have a code`(_ text: String) { #expect(code(text) != nil) }

    @Test func `A call without metadata has none`() { #expect(key.code(of: Metadata()) == nil) }

    @Test func `The key has 32 bytes`() throws {
        func configured(_ count: Int) throws -> ClientAddressKey {
            let configuration = try Configuration(
                keys: [ClientAddressKey.key],
                program: "profile",
                environment: [ClientAddressKey.key.name: "/key"],
                readFile: { (_, _) throws(FileError) in [UInt8](repeating: 1, count: count) }
            )
            return try ClientAddressKey(configuration, service: "profile")
        }
        #expect(code("192.0.2.1", try configured(32)) == code("192.0.2.1"))
        for count in [1, 31, 33] {
            #expect(throws: ConfigurationErrors.self) { try configured(count) }
        }
    }
}
