/// Why bytes were rejected as DER.
public enum DERError: Error, Sendable, Hashable {
    /// The bytes end inside an element, or an element claims to be longer than they are.
    case truncated
    /// Bytes follow where the last element should end.
    case trailing
    /// A tag or a length is not in its one spelling (X.690 sections 8.1.2 and 10.1), or has no definite length.
    case notCanonical
    /// A tag's number has more than 28 bits, or a length more than 24.
    case tooLarge
    /// The element is of another type, or its content is none of that type.
    case unexpected
}

/// A tag of ASN.1: its class and number, and whether elements follow inside.
public struct DERTag: Sendable, Hashable {
    /// The class: 0 universal, 1 application, 2 context-specific, 3 private.
    public let tagClass: UInt8
    /// Whether the content consists of elements.
    public let isConstructed: Bool
    /// The number.
    public let number: UInt32

    /// A tag.
    public init(class tagClass: UInt8, isConstructed: Bool, number: UInt32) {
        self.tagClass = tagClass
        self.isConstructed = isConstructed
        self.number = number
    }

    /// INTEGER.
    public static let integer = DERTag(class: 0, isConstructed: false, number: 2)
    /// OCTET STRING.
    public static let octetString = DERTag(class: 0, isConstructed: false, number: 4)
    /// OBJECT IDENTIFIER.
    public static let objectIdentifier = DERTag(class: 0, isConstructed: false, number: 6)
    /// ENUMERATED.
    public static let enumerated = DERTag(class: 0, isConstructed: false, number: 10)
    /// SEQUENCE.
    public static let sequence = DERTag(class: 0, isConstructed: true, number: 16)
    /// SET.
    public static let set = DERTag(class: 0, isConstructed: true, number: 17)
    /// An explicit tag of a context.
    public static func explicit(_ number: UInt32) -> DERTag { DERTag(class: 2, isConstructed: true, number: number) }
}

/// Reads elements of DER (X.690) strictly, one after the other: every length is compared with what is left, and nothing recurses.
public struct DERReader: Sendable {
    private var reader: ByteReader<DERError>

    /// Reads `bytes`.
    public init(_ bytes: some Collection<UInt8>) {
        reader = ByteReader(Array(bytes)[...], truncated: .truncated)
    }

    /// Whether no byte is left.
    public var isAtEnd: Bool { reader.isAtEnd }

    /// Reads the next element, of any type.
    public mutating func element() throws(DERError) -> (tag: DERTag, content: ArraySlice<UInt8>) {
        let tag = try tag()
        return (tag, try reader.take(try length()))
    }

    /// Reads the next element, which has this tag, and returns its content.
    public mutating func content(_ tag: DERTag) throws(DERError) -> ArraySlice<UInt8> {
        let found = try element()
        guard found.tag == tag else { throw .unexpected }
        return found.content
    }

    /// Reads the next element, which has this tag, and returns a reader of the elements inside.
    public mutating func elements(_ tag: DERTag) throws(DERError) -> DERReader { DERReader(try content(tag)) }

    /// Reads the next element, an INTEGER or what the tag says, from 0 to 2^31 - 1.
    public mutating func number(_ tag: DERTag = .integer) throws(DERError) -> Int {
        let content = try content(tag)
        guard 1...4 ~= content.count, let first = content.first, first < 0x80 else { throw .unexpected }
        if first == 0, let second = content.dropFirst().first, second < 0x80 { throw .notCanonical }
        return content.reduce(0) { $0 * 256 + Int($1) }
    }

    /// Throws if anything is left.
    public func finish() throws(DERError) {
        guard isAtEnd else { throw .trailing }
    }

    private mutating func tag() throws(DERError) -> DERTag {
        let first = try reader.byte()
        var number = UInt32(first & 0x1f)
        if number == 0x1f {
            number = 0
            var byte: UInt8
            repeat {
                byte = try reader.byte()
                guard number > 0 || byte != 0x80 else { throw .notCanonical }
                guard number < 1 << 21 else { throw .tooLarge }
                number = number << 7 | UInt32(byte & 0x7f)
            } while byte >= 0x80
            guard number >= 0x1f else { throw .notCanonical }
        }
        return DERTag(class: first >> 6, isConstructed: first & 0x20 != 0, number: number)
    }

    private mutating func length() throws(DERError) -> Int {
        let first = try reader.byte()
        guard first >= 0x80 else { return Int(first) }
        guard first != 0x80 else { throw .notCanonical }
        guard first <= 0x83 else { throw .tooLarge }
        var length = 0
        for byte in try reader.take(Int(first & 0x7f)) {
            guard length > 0 || byte > 0 else { throw .notCanonical }
            length = length * 256 + Int(byte)
        }
        guard length >= 0x80 else { throw .notCanonical }
        return length
    }
}
