import Testing

@testable import GatewayService

@Suite struct ClientAddressTests {
    @Test func oneSubscriberIsOneClient() {
        #expect(ClientAddress("192.0.2.1") == ClientAddress("192.0.2.1"))
        #expect(ClientAddress("192.0.2.1") != ClientAddress("192.0.2.2"))
        #expect(ClientAddress("2001:db8::1") == ClientAddress("2001:db8::ffff"))
        #expect(ClientAddress("2001:db8::1") != ClientAddress("2001:db8:0:1::1"))
        #expect(ClientAddress("::ffff:192.0.2.1") == ClientAddress("192.0.2.1"))
        #expect(ClientAddress("example.com") == nil)
        #expect(ClientAddress("") == nil)
    }

    @Test(arguments: [
        (0, "1.1.1.1", "9.9.9.9"), (1, "1.1.1.1", "1.1.1.1"), (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6,1.1.1.1 , 2.2.2.2", "1.1.1.1"), (2, "1.1.1.1", "9.9.9.9"), (1, "", "9.9.9.9"),
        (1, "unknown", "9.9.9.9"), (1, nil, "9.9.9.9"),
    ])
    func onlyOurProxiesAreBelieved(proxyCount: Int, forwarded: String?, client: String) {
        let address = ClientAddress(peer: "9.9.9.9", forwarded: forwarded, proxyCount: proxyCount)
        #expect(address == ClientAddress(client))
    }

    @Test func aConnectionWithoutAnAddressIsOneClient() {
        #expect(ClientAddress(peer: nil, forwarded: nil, proxyCount: 0) == ClientAddress.none)
    }
}
