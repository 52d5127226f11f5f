import Glibc

/// An IPv4 or IPv6 address. An IPv4 address that was written or seen as IPv6 (`::ffff:192.0.2.1`, RFC 4291 section
/// 2.5.5.2) is that IPv4 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes of the IPv6 form, most significant first.
    public let high: UInt64
    /// The last eight bytes of the IPv6 form, most significant first.
    public let low: UInt64

    private static let v4Prefix: UInt64 = 0xffff

    /// The address of these halves of an IPv6 address.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The IPv4 address of these four bytes, most significant first.
    public init(v4: UInt32) { self.init(high: 0, low: Self.v4Prefix << 32 | UInt64(v4)) }

    /// Reads an IPv4 address in four decimal numbers, which begin with no needless zero, as inet_pton has it; nil if the text is
    /// none. Takes no memory.
    public init?(v4Text text: UnsafeBufferPointer<UInt8>) {
        var (address, number, digits, dots): (UInt32, UInt32, Int, Int) = (0, 0, 0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: ".") where digits > 0 && dots < 3:
                address = address << 8 | number
                (number, digits, dots) = (0, 0, dots + 1)
            case UInt8(ascii: "0")...UInt8(ascii: "9") where digits == 0 || number > 0:
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
                guard number < 256 else { return nil }
            default: return nil
            }
        }
        guard dots == 3, digits > 0 else { return nil }
        self.init(v4: address << 8 | number)
    }

    /// Reads an address in numbers; nil if the text is none.
    public init?(_ text: some StringProtocol) {
        // The longest has 45 bytes; no text of a stranger is copied for nothing.
        guard 2...45 ~= text.utf8.count else { return nil }
        let text = String(text)
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self = withUnsafeBytes(of: v6) { Self(bytes: $0) }
        } else {
            return nil
        }
    }

    /// The address of sixteen bytes in network order, such as those of an `in6_addr`.
    public init(bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == 16, "an IPv6 address has sixteen bytes")
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    /// Whether it is an IPv4 address.
    public var isV4: Bool { high == 0 && low >> 32 == Self.v4Prefix }

    /// The address in numbers, as RFC 5952 writes it.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let length = socklen_t(text.count)
        if isV4 {
            var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            inet_ntop(AF_INET, &address, &text, length)
        } else {
            var words = (high.bigEndian, low.bigEndian)
            inet_ntop(AF_INET6, &words, &text, length)
        }
        // With room for the longest address inet_ntop cannot fail; it ends the text with a zero.
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
