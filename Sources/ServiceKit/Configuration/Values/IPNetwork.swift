/// The addresses that share a prefix: `10.0.0.0/8`, `2001:db8::/32` (RFC 4632), or one address alone.
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The first address; the bits after the prefix are zero.
    public let address: IPAddress
    /// How many bits of the IPv6 form are the prefix: 0 to 128.
    private let bits: Int

    /// Reads a network; nil if the text is none, or has bits set after its prefix, which is nearly always a slip.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        var bits = 128
        if parts.count == 2 {
            guard 1...3 ~= parts[1].utf8.count, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let prefix = Int(parts[1])
            else { return nil }
            // A prefix of dotted notation counts its 32 bits; one of ::ffff:10.0.0.0 counts all 128.
            let isDotted = address.isV4 && !parts[0].utf8.contains(UInt8(ascii: ":"))
            guard prefix <= (isDotted ? 32 : 128) else { return nil }
            bits = isDotted ? 96 + prefix : prefix
        }
        let masks = Self.masks(bits)
        guard address.high & ~masks.high == 0, address.low & ~masks.low == 0 else { return nil }
        self.address = address
        self.bits = bits
    }

    /// Whether the address is one of the network's. No IPv4 address is one of an IPv6 network's, be it `::/0`.
    public func contains(_ other: IPAddress) -> Bool {
        let masks = Self.masks(bits)
        return other.isV4 == isV4 && other.high & masks.high == address.high && other.low & masks.low == address.low
    }

    /// The network as it is written: `10.0.0.0/8`.
    public var description: String { "\(address)/\(isV4 ? bits - 96 : bits)" }

    private var isV4: Bool { address.isV4 && bits >= 96 }

    private static func masks(_ bits: Int) -> (high: UInt64, low: UInt64) {
        // Swift's shift by 64 or more gives zero, as is wanted here.
        (~(UInt64.max >> min(bits, 64)), ~(UInt64.max >> max(0, bits - 64)))
    }
}
