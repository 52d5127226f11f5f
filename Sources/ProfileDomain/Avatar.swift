/// A user's picture by its name: an https URL that the user chose, or an uploaded image.
public struct Avatar: Sendable, Hashable {
    /// Why a text doesn't name a picture.
    public enum Fault: Error, Sendable, Hashable {
        /// It has more than ``Avatar/bytesMax`` bytes.
        case tooLong
        /// It doesn't begin with `https://`.
        case notHTTPS
        /// The text after it isn't a host name with a dot, perhaps with a port. IP addresses are not allowed.
        case hostInvalid
        /// It has a character that is not allowed in a URL (RFC 3986 section 2), or a fragment.
        case forbiddenCharacter
        /// It is an uploaded image, but not the user's.
        case notUploaded

        /// The fault as a message for people.
        public var words: String {
            switch self {
            case .tooLong: "The picture's URL must have at most \(Avatar.bytesMax) bytes."
            case .notHTTPS: "The picture's URL must begin with https://."
            case .hostInvalid: "The picture's URL must name a host."
            case .forbiddenCharacter: "The picture's URL holds characters that no URL may have."
            case .notUploaded: "There is no such picture. Upload it first."
            }
        }
    }

    /// The most bytes of a URL.
    public static let bytesMax = 512
    /// The prefix of an uploaded image's name; the id follows.
    public static let uploadPrefix = "/avatars/"

    /// The URL, or ``uploadPrefix`` and the id of an upload.
    public let value: String

    /// An uploaded picture.
    public init(upload: AvatarID) { value = Self.uploadPrefix + upload.text }

    /// A picture that was accepted before, as it was stored. It isn't checked again.
    public init(stored text: String) { value = text }

    /// A picture that a client named.
    public init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.bytesMax else { throw .tooLong }
        if text.hasPrefix(Self.uploadPrefix) {
            guard AvatarID(String(text.dropFirst(Self.uploadPrefix.count))) != nil else { throw .notUploaded }
        } else {
            try Self.check(Array(text.utf8))
        }
        value = text
    }

    /// The id of an uploaded image; nil for a URL.
    public var upload: AvatarID? {
        value.hasPrefix(Self.uploadPrefix) ? AvatarID(String(value.dropFirst(Self.uploadPrefix.count))) : nil
    }

    private static let scheme = Array("https://".utf8)
    private static let hostBytesMax = 253
    private static let labelBytesMax = 63

    private static func check(_ text: [UInt8]) throws(Fault) {
        guard text.starts(with: scheme) else { throw .notHTTPS }
        var index = scheme.count
        while index < text.count {
            let byte = text[index]
            guard isAllowed(byte) else { throw .forbiddenCharacter }
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.count, isHexDigit(text[index + 1]), isHexDigit(text[index + 2]) else {
                    throw .forbiddenCharacter
                }
            }
            index += 1
        }
        let rest = text[scheme.count...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let parts = authority.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 2, isHost(parts[0]), parts.count == 1 || isPort(parts[1]) else { throw .hostInvalid }
    }

    /// The characters of a URL, without brackets, which only IPv6 addresses have, and without a fragment.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "-._~%!$&'()*+,;=:@/?".utf8.contains(byte)
    }

    /// Labels of letters, digits and hyphens with dots between, the last of which begins with a letter.
    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard 1...hostBytesMax ~= host.count else { return false }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let top = labels.last?.first, isLetter(top) else { return false }
        return labels.allSatisfy { label in
            1...labelBytesMax ~= label.count && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isPort(_ port: ArraySlice<UInt8>) -> Bool {
        guard 1...5 ~= port.count, port.allSatisfy(isDigit) else { return false }
        return 1...65_535 ~= port.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}

/// The id of an uploaded image: 128 random bits, since any client that knows the id gets the image.
public struct AvatarID: Sendable, Hashable {
    /// The upper half.
    public let high: UInt64
    /// The lower half.
    public let low: UInt64

    /// An id of two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new id.
    ///
    /// - Parameter generator: must be fit for secrets, as the system's is.
    public init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    /// Parses an id: 32 lowercase hexadecimal digits.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 32 else { return nil }
        var halves: [UInt64] = [0, 0]
        for (index, digit) in digits.enumerated() {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            halves[index / 16] = halves[index / 16] << 4 | UInt64(value)
        }
        self.init(high: halves[0], low: halves[1])
    }

    /// The id as 32 hexadecimal digits.
    public var text: String {
        var text = ""
        for half in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) { text += String(half >> UInt64(shift) & 15, radix: 16) }
        }
        return text
    }
}
