import Models

/// Which part of a list is asked for.
public struct Page: Sendable, Hashable {
    /// The lists there are; a token of one is no token of another.
    public enum List: UInt8, Sendable, Hashable, CaseIterable {
        /// A user's groups.
        case groups = 1
        /// A group's members.
        case members = 2
        /// What waits for a user.
        case invitations = 3
        /// Whom a group waits for.
        case pending = 4
        /// Whom a user blocks.
        case blockedInviters = 5
    }

    /// How many entries a page has if the request doesn't say.
    public static let sizeDefault = 50
    /// The most entries a page has; a larger wish is cut down to it.
    public static let sizeMax = 100

    /// How many entries are wanted, 1 to ``sizeMax``.
    public let size: Int
    /// The last entry of the page before: the high and low half of its UUID; nil for the first page.
    public let after: Cursor?

    /// The place of an entry in a list: the UUID that the list is sorted by.
    public struct Cursor: Sendable, Hashable {
        /// The first eight bytes of the UUID.
        public let high: UInt64
        /// The last eight bytes of the UUID.
        public let low: UInt64

        /// The place of the entry with this id.
        public init<Tag>(_ id: Identifier<Tag>) {
            self.high = id.high
            self.low = id.low
        }
    }

    /// The page that a request asks for.
    ///
    /// - Parameters:
    ///   - size: the entries wanted; 0 means ``sizeDefault``.
    ///   - token: what ``token(after:in:)`` made for the page before, empty for the first page.
    ///   - list: the list that is asked for.
    public init(size: Int, token: String, list: List) throws(InvitesFault) {
        guard size >= 0 else { throw .pageSizeInvalid }
        self.size = size == 0 ? Self.sizeDefault : min(size, Self.sizeMax)
        self.after = token.isEmpty ? nil : try Self.cursor(token, list: list)
    }

    /// The token of the page that begins after an entry. Clients hand it back and don't look into it.
    public static func token(after cursor: Cursor, in list: List) -> String {
        "\(list.rawValue)-" + hexadecimal(cursor.high) + hexadecimal(cursor.low)
    }

    private static func cursor(_ token: String, list: List) throws(InvitesFault) -> Cursor {
        let bytes = Array(token.utf8.prefix(35))
        guard bytes.count == 34, bytes[0] == UInt8(ascii: "0") + list.rawValue, bytes[1] == UInt8(ascii: "-"),
            let high = number(bytes[2..<18]), let low = number(bytes[18..<34])
        else { throw .pageTokenInvalid }
        return Cursor(Identifier<Never>(high: high, low: low))
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}
