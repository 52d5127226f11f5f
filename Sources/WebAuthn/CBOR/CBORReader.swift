import Bytes

/// Why bytes were rejected as CBOR.
package enum CBORError: Error, Sendable, Hashable {
    /// The bytes end inside an item, or an item claims to be longer than they are.
    case truncated
    /// Bytes follow the item.
    case trailing
    /// An integer or a length has a shorter spelling (RFC 8949 section 4.2.1).
    case notShortest
    /// An item has no length of its own and ends at a break (RFC 8949 section 3.2).
    case indefiniteLength
    /// A tag, a float, a simple value but true, false and null, a reserved length, or a key that is no integer or text.
    case unsupported
    /// A map has a key twice.
    case duplicateKey
    /// A text is not UTF-8.
    case invalidText
    /// Arrays and maps are nested deeper than ``CBORReader/depthMax``.
    case tooDeep
    /// There are more items than ``CBORReader/itemsMax``.
    case tooManyItems
}

/// Reads CBOR strictly: the canonical form of CTAP 2.1 section 8, which authenticators must write, with one exception. The order of
/// a map's keys is not checked: it carries no meaning, and authenticators in the field break it.
///
/// Every length is compared with what is left before anything is allocated for it, and recursion ends at ``depthMax``.
package struct CBORReader {
    /// The maximum depth of nested arrays and maps, CTAP's.
    package static let depthMax = 4
    /// The maximum of items, keys and values included. A statement of a TPM has some twenty.
    package static let itemsMax = 512

    private var reader: ByteReader<CBORError>
    private var itemCount = 0

    /// Reads `bytes`.
    package init(_ bytes: ArraySlice<UInt8>) {
        reader = ByteReader(bytes, truncated: .truncated)
    }

    /// The item that all of `bytes` are.
    package static func whole(_ bytes: ArraySlice<UInt8>) throws(CBORError) -> CBORValue {
        var reader = CBORReader(bytes)
        let value = try reader.value()
        guard reader.reader.isAtEnd else { throw .trailing }
        return value
    }

    /// The index of the first byte behind the items that were read.
    package var position: Int { reader.position }

    /// Reads the next item.
    package mutating func value() throws(CBORError) -> CBORValue { try value(depth: 0) }

    /// Reads an item inside of `depth` arrays and maps.
    private mutating func value(depth: Int) throws(CBORError) -> CBORValue {
        itemCount += 1
        guard itemCount <= Self.itemsMax else { throw .tooManyItems }
        let initial = try reader.byte()
        let information = initial & 0x1f
        switch initial >> 5 {
        case 0: return .unsigned(try argument(information))
        case 1: return .negative(try argument(information))
        case 2: return .bytes(try string(information))
        case 3:
            guard let text = String(validating: try string(information), as: UTF8.self) else { throw .invalidText }
            return .text(text)
        case 4: return .array(try array(information, depth: depth + 1))
        case 5: return .map(try map(information, depth: depth + 1))
        case 7: return try simple(information)
        default: throw .unsupported
        }
    }

    /// The number in an item's head (RFC 8949 section 3).
    private mutating func argument(_ information: UInt8) throws(CBORError) -> UInt64 {
        switch information {
        case ..<24: return UInt64(information)
        case 24: return try longer(UInt8.self, than: 23)
        case 25: return try longer(UInt16.self, than: UInt64(UInt8.max))
        case 26: return try longer(UInt32.self, than: UInt64(UInt16.max))
        case 27: return try longer(UInt64.self, than: UInt64(UInt32.max))
        case 31: throw .indefiniteLength
        default: throw .unsupported
        }
    }

    /// A number of a type that no smaller head had room for.
    private mutating func longer<Number: FixedWidthInteger & UnsignedInteger>(
        _: Number.Type,
        than most: UInt64
    ) throws(CBORError) -> UInt64 {
        let number = UInt64(try reader.integer(Number.self))
        guard number > most else { throw .notShortest }
        return number
    }

    private mutating func string(_ information: UInt8) throws(CBORError) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try argument(information)) else { throw .truncated }
        return try reader.take(count)
    }

    private mutating func array(_ information: UInt8, depth: Int) throws(CBORError) -> [CBORValue] {
        let count = try self.count(information, bytesPerElement: 1, depth: depth)
        var elements: [CBORValue] = []
        for _ in 0..<count { elements.append(try value(depth: depth)) }
        return elements
    }

    private mutating func map(_ information: UInt8, depth: Int) throws(CBORError) -> CBORMap {
        let count = try self.count(information, bytesPerElement: 2, depth: depth)
        var entries: [CBORMap.Entry] = []
        // Since numbers and lengths have one spelling, equal keys are equal bytes.
        var keys: Set<ArraySlice<UInt8>> = []
        for _ in 0..<count {
            let start = reader.position
            let key = try value(depth: depth)
            switch key {
            case .unsigned, .negative, .text: break
            case .bytes, .array, .map, .bool, .null: throw .unsupported
            }
            guard keys.insert(reader.bytes[start..<reader.position]).inserted else { throw .duplicateKey }
            entries.append(CBORMap.Entry(key: key, value: try value(depth: depth)))
        }
        return CBORMap(entries: entries)
    }

    /// The number of elements of an array or map at that depth, each of which takes at least so many bytes.
    private mutating func count(
        _ information: UInt8,
        bytesPerElement: Int,
        depth: Int
    ) throws(CBORError) -> Int {
        guard depth <= Self.depthMax else { throw .tooDeep }
        let count = try argument(information)
        guard let count = Int(exactly: count), count <= reader.leftCount / bytesPerElement else { throw .truncated }
        return count
    }

    private func simple(_ information: UInt8) throws(CBORError) -> CBORValue {
        switch information {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 31: throw .indefiniteLength
        default: throw .unsupported
        }
    }
}
