import Glibc

/// Decides whether an address is public, that is, globally reachable by IANA's registries of special-purpose addresses (RFC 6890) as
/// of 2026.
public enum PublicAddress {
    /// Whether a numeric address is public; nil if the text isn't one.
    public static func isPublic(_ text: String) -> Bool? { addressBytes(text).map { contains($0) } }

    /// Whether an address of 4 or 16 bytes is public: not loopback, private, link-local, a carrier's NAT, multicast, for
    /// documentation or reserved. An IPv4 address within an IPv6 address is checked too.
    static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !specialIPv4.contains { $0.contains(address) }
        case 16: containsIPv6(address)
        default: false
        }
    }

    /// The address of a socket; nil if it is neither IPv4 nor IPv6.
    static func bytes(of address: UnsafeRawPointer, length: Int) -> [UInt8]? {
        guard length >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let ipv4 = address.loadUnaligned(as: sockaddr_in.self)
            return withUnsafeBytes(of: ipv4.sin_addr) { Array($0) }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let ipv6 = address.loadUnaligned(as: sockaddr_in6.self)
            return withUnsafeBytes(of: ipv6.sin6_addr) { Array($0) }
        default:
            return nil
        }
    }

    // MARK: - Blocks

    /// A block: the addresses with this prefix.
    private struct Block {
        let prefix: [UInt8]
        let bits: Int

        init(_ bits: Int, _ prefix: UInt8...) { (self.prefix, self.bits) = (prefix, bits) }

        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.prefix(whole).elementsEqual(prefix.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ prefix[whole]) >> UInt8(8 - rest) == 0
        }
    }

    private static let specialIPv4 = [
        Block(8, 0), Block(8, 10), Block(10, 100, 64), Block(8, 127), Block(16, 169, 254), Block(12, 172, 16),
        Block(24, 192, 0, 0), Block(24, 192, 0, 2), Block(24, 192, 88, 99), Block(16, 192, 168), Block(15, 198, 18),
        Block(24, 198, 51, 100), Block(24, 203, 0, 113), Block(4, 224), Block(4, 240),
    ]

    /// The global unicast addresses that are assigned (RFC 4291 section 2.4); the rest of IPv6 is not public.
    private static let unicastIPv6 = Block(3, 0x20)
    /// Protocol assignments, with Teredo and benchmarking, and documentation, including 3fff::/20.
    private static let specialIPv6 = [
        Block(23, 0x20, 0x01, 0x00), Block(32, 0x20, 0x01, 0x0d, 0xb8), Block(20, 0x3f, 0xff, 0x00),
    ]
    /// ::ffff:0:0/96, IPv4-mapped addresses, and 64:ff9b::/96, of translators (RFC 6052).
    private static let carriersOfIPv4 = [
        Block(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff), Block(96, 0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0),
    ]
    /// 2002::/16, of 6to4 tunnels (RFC 3056).
    private static let tunnelOfIPv4 = Block(16, 0x20, 0x02)

    private static func containsIPv6(_ address: [UInt8]) -> Bool {
        if carriersOfIPv4.contains(where: { $0.contains(address) }) { return contains(Array(address[12...])) }
        if tunnelOfIPv4.contains(address) { return contains(Array(address[2..<6])) }
        return unicastIPv6.contains(address) && !specialIPv6.contains { $0.contains(address) }
    }
}
