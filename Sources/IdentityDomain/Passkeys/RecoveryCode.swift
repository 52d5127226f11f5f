import JOSE

/// A recovery code: a text that a user keeps for the day on which no other way into the account is left. It adds a passkey, once.
///
/// It has 120 random bits: a locator of 40, by which its row is found, and a secret of 80, of which the row has a hash. Users write it in
/// Crockford's base32, 24 letters and digits in groups of four.
public struct RecoveryCode: Sendable, Hashable {
    /// How many an account gets.
    public static let count = 10
    /// Random bytes of one.
    public static let randomByteCount = locatorByteCount + secretByteCount
    /// Bytes of a locator.
    public static let locatorByteCount = 5
    /// The longest text that is read, in bytes.
    public static let textBytesMax = 100
    private static let secretByteCount = 10
    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let lettersPerGroup = 4
    private static let bitsPerLetter = 5

    private let bytes: [UInt8]

    /// A code.
    ///
    /// - Parameter random: ``randomByteCount`` random bytes.
    public init(random: [UInt8]) {
        precondition(random.count == Self.randomByteCount)
        bytes = random
    }

    /// The code of a text; nil if it is none. Case doesn't matter, spaces and hyphens are left out, and O, I and L are read as 0, 1 and 1.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.textBytesMax else { return nil }
        var values: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
            guard let value = Self.value(of: byte) else { return nil }
            values.append(value)
        }
        guard values.count * Self.bitsPerLetter == Self.randomByteCount * 8 else { return nil }
        // Eight letters are five bytes.
        bytes = stride(from: 0, to: values.count, by: 8).flatMap { start in
            let bits = values[start..<start + 8].reduce(UInt64(0)) { $0 << UInt64(Self.bitsPerLetter) | UInt64($1) }
            return (0..<5).map { UInt8(truncatingIfNeeded: bits >> (32 - 8 * $0)) }
        }
    }

    /// Finds its row. Not secret by itself.
    public var locator: [UInt8] { Array(bytes[..<Self.locatorByteCount]) }

    /// What its row has of it, 32 bytes. A plain hash is enough: nobody guesses 80 bits.
    public var hash: [UInt8] { SHA256.hash(Array("vestibule recovery code 1\0".utf8) + bytes) }

    /// As a user writes it.
    public var text: String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 5) {
            let bits = bytes[start..<start + 5].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            for letter in 0..<8 {
                if !text.isEmpty, letter % Self.lettersPerGroup == 0 { text.append(UInt8(ascii: "-")) }
                text.append(Self.letters[Int(bits >> UInt64(35 - Self.bitsPerLetter * letter) & 31)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of byte: UInt8) -> UInt8? {
        let isLower = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
        var letter = isLower ? byte - 32 : byte
        if letter == UInt8(ascii: "O") { letter = UInt8(ascii: "0") }
        if letter == UInt8(ascii: "I") || letter == UInt8(ascii: "L") { letter = UInt8(ascii: "1") }
        return letters.firstIndex(of: letter).map(UInt8.init)
    }
}

/// Why a recovery code is refused.
public enum RecoveryRefusal: Error, Sendable, Hashable {
    /// It is wrong, or was used.
    case invalid
    /// Too many wrong codes came from the client's address, or the account got codes too often.
    case tooManyAttempts(retryAfterMilliseconds: Int64)
}
