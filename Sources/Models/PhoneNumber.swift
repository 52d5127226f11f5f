import CPhoneNumber

/// A phone number that its region's numbering plan assigns, always with its country code.
///
/// Two notations of one number are one value: `0917…`, `917…`, `63917…`, `+63 917…` and `0063…` in the Philippines.
/// Inside it is the digits of E.164 without the plus, since a plus kept in one place and not in another once made two
/// users of one number.
public struct PhoneNumber: Sendable, Hashable {
    /// Why a text is no phone number, or none that is taken here.
    public enum Fault: Error, Sendable, Hashable {
        /// The text can't be read as a number.
        case notANumber
        /// The text reads as a number, but its region's numbering plan doesn't have it.
        case notAssigned
        /// The number is of a kind that isn't taken here, such as a land line.
        case kindNotAllowed
        /// The number is of a region that isn't taken here.
        case regionNotAllowed
        /// The library that reads numbers failed, most likely for lack of memory. The number may be good.
        case libraryFailed

        /// The fault in words for people.
        public var words: String {
            switch self {
            case .notANumber: "This is not a phone number."
            case .notAssigned, .libraryFailed: "This phone number does not exist."
            case .kindNotAllowed: "This kind of phone number can't be used here."
            case .regionNotAllowed: "Phone numbers of this country can't be used here."
            }
        }
    }

    /// The most digits, country code included (E.164, section 6.1).
    public static let digitsMax = Int(CPHONE_DIGITS_MAX)

    /// The digits with the country code and without the plus.
    public let digits: String

    /// The number with its plus, as E.164 writes it.
    public var e164: String { "+" + digits }

    /// Reads what a person typed.
    ///
    /// Takes about ten microseconds of CPU and waits for nothing, so it may be called on an event loop.
    public init(_ text: String, policy: PhonePolicy) throws(Fault) {
        guard Self.isPlausible(text) else { throw .notANumber }
        var text = text
        var found = cphone_number()
        let result = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                cphone_parse(characters.baseAddress, characters.count, policy.defaultRegion, &found)
            }
        }
        switch result {
        case CPHONE_OK: break
        case CPHONE_NOT_A_NUMBER, CPHONE_TOO_LONG, CPHONE_HAS_EXTENSION: throw .notANumber
        case CPHONE_NOT_ASSIGNED: throw .notAssigned
        // The policy was checked when it was made, so an unknown region is the library's failure too.
        default: throw .libraryFailed
        }

        guard let kind = PhonePolicy.Kind(found.kind), policy.allowedKinds.contains(kind) else {
            throw .kindNotAllowed
        }
        if let allowedRegions = policy.allowedRegions {
            guard allowedRegions.contains(Self.text(of: found.region)) else { throw .regionNotAllowed }
        }
        self.digits = Self.text(of: found.digits)
    }

    /// A number that was accepted before, from the digits or the E.164 text that it was stored or sent as.
    ///
    /// Only the shape is checked, not the plan or the policy: a number that was good when its owner registered it
    /// must stay readable after the plan or the policy has changed. Nil for anything but 4 to 15 digits of which the
    /// first isn't zero, with or without a plus before them.
    public init?(stored text: String) {
        let digits = text.utf8.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
        guard (4...Self.digitsMax).contains(digits.utf8.count), digits.utf8.first != UInt8(ascii: "0") else {
            return nil
        }
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.digits = String(digits)
    }

    /// Whether a text holds nothing but what phone numbers are written with: digits of any script, a plus before the
    /// first digit, spaces, brackets, dots, slashes, dashes, and the invisible marks that address books copy along.
    ///
    /// The library alone is too kind: it picks a number out of a sentence, and spells letters as digits.
    private static func isPlausible(_ text: String) -> Bool {
        guard text.utf8.count <= Int(CPHONE_INPUT_BYTES_MAX) else { return false }
        var digits = 0
        var hasPlus = false
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .decimalNumber:
                digits += 1
            case .spaceSeparator, .dashPunctuation, .openPunctuation, .closePunctuation, .format:
                continue
            default:
                switch scalar {
                case "+", "\u{FF0B}":
                    guard !hasPlus, digits == 0 else { return false }
                    hasPlus = true
                case ".", "/", "\t", "\u{FF0E}", "\u{2212}":
                    continue
                default:
                    return false
                }
            }
        }
        // Longer than any number with its international prefix, trunk zero and country code.
        return digits > 0 && digits <= 2 * digitsMax
    }

    /// The text in one of the shim's fixed arrays, which a zero byte ends.
    private static func text<Array>(of characters: Array) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension PhonePolicy.Kind {
    /// The kind that the shim names, nil for the kinds that are no single person's.
    fileprivate init?(_ kind: cphone_kind) {
        switch kind {
        case CPHONE_KIND_MOBILE: self = .mobile
        case CPHONE_KIND_FIXED_LINE: self = .fixedLine
        case CPHONE_KIND_FIXED_LINE_OR_MOBILE: self = .fixedLineOrMobile
        case CPHONE_KIND_VOIP: self = .voip
        default: return nil
        }
    }
}

extension PhoneNumber: CustomStringConvertible {
    /// A mask, so that a number that slips into a log line or an error's text isn't disclosed. Use ``e164`` to send it.
    public var description: String { "PhoneNumber(\(digits.utf8.count) digits)" }
}
