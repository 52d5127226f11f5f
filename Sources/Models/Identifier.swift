/// A UUID that names one kind of thing, so that a group's id can't stand where a user's is wanted.
///
/// Ids made here are version 7 of RFC 9562: their first 48 bits are the Unix time in milliseconds, so they sort by
/// the time they were made and new rows land side by side in an index. Ids that come from outside may be of any
/// version, since nothing here depends on it.
public struct Identifier<Tag>: Sendable, Hashable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// An id of these two halves of a UUID.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An id of the sixteen bytes of a UUID in network order, or nil if there aren't sixteen.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self = Array(bytes).withUnsafeBytes { bytes in
            Self(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// The id that a request names.
    ///
    /// - Throws: `fault` if it names none.
    public init<Fault: Error>(_ text: String, or fault: Fault) throws(Fault) {
        guard let id = Self(text) else { throw fault }
        self = id
    }

    /// The id that a text such as `0190163d-8694-739b-aea5-966c26f8ad91` names (RFC 9562, section 4), in either
    /// case; nil for any other text.
    public init?(_ string: String) {
        var string = string
        guard let id = string.withUTF8({ Self(utf8: $0) }) else { return nil }
        self = id
    }

    /// As ``init(_:)``, of the text's UTF-8 bytes.
    public init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var digits = 0
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        for position in 0..<36 {
            let byte = text[position]
            switch position {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard let value = Self.hexadecimalValue(of: byte) else { return nil }
                if digits < 16 {
                    halves.high = halves.high << 4 | UInt64(value)
                } else {
                    halves.low = halves.low << 4 | UInt64(value)
                }
                digits += 1
            }
        }
        self.init(high: halves.high, low: halves.low)
    }

    /// A new version 7 id (RFC 9562, section 5.7).
    ///
    /// - Parameters:
    ///   - milliseconds: the time now, in Unix milliseconds; its lower 48 bits are taken.
    ///   - random: where the other 74 bits come from.
    public static func make(milliseconds: Int64, random: inout some RandomNumberGenerator) -> Identifier {
        make(milliseconds: milliseconds, randomBits: (random.next(), random.next()))
    }

    /// A new version 7 id of the time in Unix milliseconds and 74 of the given bits.
    static func make(milliseconds: Int64, randomBits: (UInt64, UInt64)) -> Identifier {
        let time = UInt64(truncatingIfNeeded: milliseconds) & 0xFFFF_FFFF_FFFF
        return Identifier(
            high: time << 16 | 0x7000 | randomBits.0 & 0x0FFF,
            low: 0x8000_0000_0000_0000 | randomBits.1 & 0x3FFF_FFFF_FFFF_FFFF
        )
    }

    /// The sixteen bytes in network order.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<8 {
                let shift = UInt64(56 - 8 * index)
                buffer[index] = UInt8(truncatingIfNeeded: high >> shift)
                buffer[index + 8] = UInt8(truncatingIfNeeded: low >> shift)
            }
            count = 16
        }
    }

    private static func hexadecimalValue(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Identifier: Comparable {
    /// Orders ids by their bytes, which is PostgreSQL's order of `uuid` and, for version 7, the order of making.
    public static func < (left: Identifier, right: Identifier) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension Identifier: CustomStringConvertible {
    /// The id as RFC 9562 writes it: lowercase, with hyphens.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let half = digit < 16 ? high : low
                buffer[position] = Self.hexadecimalDigit(of: UInt8(half >> UInt64(60 - digit % 16 * 4) & 0xF))
                position += 1
            }
            return position
        }
    }

    private static func hexadecimalDigit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
