import RPC

/// What a rate limit counts as one client: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has.
package enum ClientAddress: Hashable, Sendable {
    case v4(IPAddress)
    case v6(prefix: UInt64)
    /// Connections without an address: unix sockets, tests.
    case none

    /// The client that has this address.
    package init(_ address: IPAddress) {
        self = address.isV4 ? .v4(address) : .v6(prefix: address.high)
    }

    /// The client of a connection.
    package init(_ peer: PeerInfo) { self = peer.ipAddress.map { ClientAddress($0) } ?? .none }

    /// The /48 of an IPv6 client, which one site has, and with it 65,536 clients; nil for others.
    package var site: UInt64? {
        if case .v6(let prefix) = self { prefix >> 16 } else { nil }
    }

    /// The address as it is sent to the services: `192.0.2.1`, or the first of the /64: `2001:db8:0:1::`. Nil if there is
    /// none.
    package var text: String? {
        switch self {
        case .v4(let address): address.description
        // All that ::/64 has is this machine's own address; the services know it by its usual spelling.
        case .v6(0): "::1"
        case .v6(let prefix): IPAddress(high: prefix, low: 0).description
        case .none: nil
        }
    }
}

extension PeerInfo {
    /// The address in numbers, without its port; nil if it has none.
    package var ipAddress: IPAddress? {
        guard let colon = address.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        var host = address[..<colon]
        if let address = host.withUTF8(IPAddress.init(v4Text:)) { return address }
        return IPAddress(host.utf8.first == UInt8(ascii: "[") ? host.dropFirst().dropLast() : host)
    }
}
