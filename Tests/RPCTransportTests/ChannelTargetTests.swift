import Testing

@testable import RPCTransport

struct ChannelTargetTests {
    @Test func `Reads one host or many`() throws {
        let one = try ChannelTarget("identity:7001")
        #expect(one.parts == [.init(host: "identity", port: 7001, authority: "identity:7001")])
        let many = try ChannelTarget("127.0.0.1:7001, [::1]:7002,profile:7003")
        #expect(many.parts.map(\.host) == ["127.0.0.1", "::1", "profile"])
        #expect(many.parts.map(\.port) == [7001, 7002, 7003])
        #expect(many.parts.map(\.authority) == ["127.0.0.1:7001", "[::1]:7002", "profile:7003"])
    }

    @Test(arguments: ["", ":1", "a", "a:", "a:0", "a:65536", "::1:5", "a:1,", ",a:1", "a:1,b", "a:x"])
    func `Refuses what is no target`(text: String) {
        #expect(throws: TransportError.self) { try ChannelTarget(text) }
    }

    @Test func `Has a maximum`() {
        let host = "a:1"
        #expect(throws: Never.self) { try ChannelTarget(Array(repeating: host, count: 64).joined(separator: ",")) }
        #expect(throws: TransportError.self) {
            try ChannelTarget(Array(repeating: host, count: 65).joined(separator: ","))
        }
    }

    @Test func `Addresses in digits need no resolver`() throws {
        let digits = try #require(ChannelResolver.endpointsInDigits(try ChannelTarget("127.0.0.1:1,[::1]:2")))
        #expect(digits.map(\.address) == ["127.0.0.1", "::1"])
        #expect(ChannelResolver.endpointsInDigits(try ChannelTarget("127.0.0.1:1,localhost:2")) == nil)
    }
}
