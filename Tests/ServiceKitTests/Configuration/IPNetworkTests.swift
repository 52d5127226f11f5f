import ServiceKit
import Testing

struct IPNetworkTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("::", "::"),
        ("0.0.0.0", "0.0.0.0"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ])
    func `Addresses have one spelling`(text: String, spelled: String) {
        #expect(IPAddress(text)?.description == spelled)
    }

    @Test(arguments: [
        "0.0.0.0", "1.2.3.4", "255.255.255.255", "127.0.0.1", "10.20.30.40", "1.2.3.04", "01.2.3.4", "00.0.0.0",
        "1..2.3",
        "1.2.3.4.", ".1.2.3.4", "1.2.3.256", "1.2.3.1000", "4294967297.1.1.1", "1.2.3.4:5", "::1", "1.2.3.a",
    ])
    func `Four numbers are read as the system reads them`(text: String) {
        let read = Array(text.utf8).withUnsafeBufferPointer { IPAddress(v4Text: $0) }
        #expect(read == IPAddress(text).flatMap { $0.isV4 ? $0 : nil })
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "localhost", ":::", "fe80::1%lo", "[::1]",
    ])
    func `Refuses what is no address`(text: String) {
        #expect(Array(text.utf8).withUnsafeBufferPointer { IPAddress(v4Text: $0) } == nil)
        #expect(IPAddress(text) == nil)
        #expect(IPNetwork(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["9.255.255.255", "11.0.0.0", "::a00:0"]),
        ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
        ("192.0.2.1/32", ["192.0.2.1"], ["192.0.2.2"]),
        ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1", "2001:db8::1"]),
        ("::ffff:10.0.0.0/104", ["10.2.3.4"], ["11.0.0.0"]),
        ("::/0", ["::", "2001:db8::1"], ["10.0.0.1", "::ffff:10.0.0.1"]),
        ("2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::"]),
        ("2001:db8:0:1::/64", ["2001:db8:0:1:ffff::"], ["2001:db8:0:2::"]),
        ("2001:db8::8000:0:0:0/65", ["2001:db8::8000:0:0:0"], ["2001:db8::7fff:0:0:0"]),
        ("::1/128", ["::1"], ["::2", "::"]),
    ])
    func `Tells who is inside a network`(text: String, inside: [String], outside: [String]) throws {
        let network = try #require(IPNetwork(text))
        for address in inside { #expect(network.contains(try #require(IPAddress(address)))) }
        for address in outside { #expect(!network.contains(try #require(IPAddress(address)))) }
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8", "2001:db8::/129", "/8",
        "2001:db8::1/64", "10.0.0.0/0008", "10.0.0.0/ 8", "10.0.0.0/255.0.0.0",
    ])
    func `Refuses what is no network`(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    private static let key = ConfigurationKey.networks("VESTIBULE_TEST_NETWORKS", help: "x")

    private static func read(_ text: String) throws -> [IPNetwork] {
        try Configuration.testing(keys: [key], program: "test", [key.name: text])[key]
    }

    @Test func `A list is read with spaces`() throws {
        #expect(try Self.read(" 10.0.0.0/8, ::1 ").map(\.description) == ["10.0.0.0/8", "::1/128"])
        #expect(try Self.read("").isEmpty)
    }

    @Test(arguments: [
        "10.0.0.0/8,", "proxy", ",", "10.0.0.0/8 ::1", Array(repeating: "::1", count: 65).joined(separator: ","),
    ])
    func `A list with a fault is named`(text: String) throws {
        let faults = #expect(throws: ConfigurationErrors.self) { try Self.read(text) }
        #expect(faults?.faults.map(\.key) == [Self.key.name])
    }
}
