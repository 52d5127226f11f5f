import ServiceKit
import Testing

@testable import GatewayService

struct ClientAddressTests {
    private static func client(_ text: String) throws -> ClientAddress {
        ClientAddress(try #require(IPAddress(text)))
    }

    @Test func `One subscriber's addresses are one client`() throws {
        #expect(try Self.client("192.0.2.1") == Self.client("192.0.2.1"))
        #expect(try Self.client("192.0.2.1") != Self.client("192.0.2.2"))
        #expect(try Self.client("2001:db8::1") == Self.client("2001:db8::ffff"))
        #expect(try Self.client("2001:db8::1") != Self.client("2001:db8:0:1::1"))
        #expect(try Self.client("::ffff:192.0.2.1") == Self.client("192.0.2.1"))
    }

    @Test func `A site's networks are several clients`() throws {
        #expect(try Self.client("2001:db8:7::1").site == Self.client("2001:db8:7:ffff::1").site)
        #expect(try Self.client("2001:db8:7::1").site != Self.client("2001:db8:8::1").site)
        #expect(try Self.client("192.0.2.1").site == nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:0DB8:0:1:aaaa::1", "2001:db8:0:1::"), ("::1", "::1"),
    ])
    func `Services get one spelling of an address`(address: String, told: String) throws {
        #expect(try Self.client(address).text == told)
        #expect(ClientAddress.none.text == nil)
    }

    private static let trusted = TrustedProxies(
        networks: ["10.0.0.0/8", "::1", "2001:db8:ff::/48"].compactMap(IPNetwork.init)
    )

    /// Peer, X-Forwarded-For, and the resulting client.
    @Test(
        arguments: [
            // Only a proxy's header counts.
            ("9.9.9.9", "1.1.1.1", "9.9.9.9"), ("9.9.9.9", nil, "9.9.9.9"), ("9.9.9.9", "10.0.0.1", "9.9.9.9"),
            ("10.0.0.1", nil, "10.0.0.1"), ("10.0.0.1", "1.1.1.1", "1.1.1.1"), ("::1", "1.1.1.1", "1.1.1.1"),
            ("::ffff:10.0.0.1", "1.1.1.1", "1.1.1.1"),
            // The rightmost address that isn't a proxy's counts, whatever a client wrote before it.
            ("10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"), ("10.0.0.1", "10.0.0.9,1.1.1.1", "1.1.1.1"),
            ("10.0.0.1", "6.6.6.6,1.1.1.1 , 10.2.2.2", "1.1.1.1"), ("10.0.0.1", "1.1.1.1,::1,10.2.2.2", "1.1.1.1"),
            // All are proxies: the first of them is the client.
            ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
            // With a port, in brackets.
            ("10.0.0.1", "1.1.1.1:4711", "1.1.1.1"), ("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"),
            ("10.0.0.1", "[2001:db8::1]", "2001:db8::1"), ("10.0.0.1", "2001:db8::1", "2001:db8::1"),
            ("10.0.0.1", "1.1.1.1,[2001:db8:ff::9]:80", "1.1.1.1"),
            // Without an address in it the peer is the client.
            ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", "unknown", "10.0.0.1"),
            ("10.0.0.1", "1.1.1.1,_hidden", "10.0.0.1"),
            ("10.0.0.1", "1.1.1.1,", "10.0.0.1"), ("10.0.0.1", "1.1.1.1:", "10.0.0.1"),
            ("10.0.0.1", "1.1.1.1:port", "10.0.0.1"), ("10.0.0.1", "[2001:db8::1", "10.0.0.1"),
            ("10.0.0.1", "[2001:db8::1]4711", "10.0.0.1"), ("10.0.0.1", "1.1.1.1,x,10.2.2.2", "10.2.2.2"),
            ("10.0.0.1", "1.1.1", "10.0.0.1"), ("10.0.0.1", "01.1.1.1", "10.0.0.1"),
        ] as [(String, String?, String)]
    )
    func `Only our proxies' headers are trusted`(peer: String, forwarded: String?, client: String) throws {
        let connected: IPAddress = try #require(IPAddress(peer))
        let found = Self.trusted.client(peer: connected, forwarded: forwarded)
        #expect(try found == Self.client(client))
    }

    @Test func `A long list of proxies is read only up to a limit`() throws {
        let hops = Array(repeating: "10.0.0.2", count: 10_000).joined(separator: ",")
        let peer: IPAddress = try #require(IPAddress("10.0.0.1"))
        #expect(try Self.trusted.client(peer: peer, forwarded: "1.1.1.1,\(hops)") == Self.client("10.0.0.2"))
        let few = Array(repeating: "10.0.0.2", count: TrustedProxies.hopsMax - 1).joined(separator: ",")
        #expect(try Self.trusted.client(peer: peer, forwarded: "1.1.1.1,\(few)") == Self.client("1.1.1.1"))
    }

    @Test func `All connections without an address are one client`() {
        #expect(Self.trusted.client(peer: nil, forwarded: "1.1.1.1") == ClientAddress.none)
    }
}
