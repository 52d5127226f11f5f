/// Headers or trailers of a call that belong to the application: names with values, repeated names allowed, in order.
///
/// Names are lowercase (RFC 9113 section 8.2.1). A name that ends in `-bin` carries bytes, base64 on the wire; every
/// other value is printable ASCII. The entries lie packed in one array, the layout that the transport reads and
/// writes, so that metadata costs one allocation a call, and none where there is none:
/// `name length (UInt16) · value length (UInt32) · name · value`, lengths in the machine's byte order.
public struct Metadata: Sendable, Hashable, Sequence {
    /// The packed entries.
    public private(set) var packed: [UInt8]

    /// Metadata with no entry.
    public init() { packed = [] }

    /// Metadata with no entry, and memory for what is known to follow: names and values, and six bytes for each entry.
    public init(reservingByteCount byteCount: Int) {
        packed = []
        packed.reserveCapacity(byteCount)
    }

    /// Metadata from entries as `add` would make them.
    public init(_ entries: KeyValuePairs<String, String>) {
        self.init()
        for (name, value) in entries { add(name, value) }
    }

    /// Takes packed entries over from a transport, which has checked them.
    public init(packed: [UInt8]) { self.packed = packed }

    /// Whether there is no entry.
    public var isEmpty: Bool { packed.isEmpty }

    /// Appends a text value. The name is lowercased; bytes that gRPC does not allow in a text value are dropped.
    ///
    /// Names that belong to the protocol (`:…`, `grpc-…` that gRPC defines, `te`, `content-type`, connection headers)
    /// are refused by the transport when it sends.
    public mutating func add(_ name: String, _ value: String) {
        var (name, value) = (name, value)
        if !name.withUTF8(Self.isLowercase) { name = name.lowercased() }
        if !value.withUTF8(Self.isText) { value = String(decoding: value.utf8.filter(Self.isTextByte), as: UTF8.self) }
        appendEntry(name: name, value: value)
    }

    // The next two without an early end, so that the compiler looks at many bytes at once.

    /// Whether nothing of a name changes when it is lowercased.
    private static func isLowercase(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        var others: UInt8 = 0
        for byte in name {
            let isCapital: UInt8 = byte &- UInt8(ascii: "A") < 26 ? 0x80 : 0
            others |= byte | isCapital
        }
        return others < 0x80
    }

    private static func isText(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        var others: UInt8 = 0
        for byte in value { others |= isTextByte(byte) ? 0 : 1 }
        return others == 0
    }

    private static func isTextByte(_ byte: UInt8) -> Bool { byte &- 0x20 < 0x5f }  // 0x20...0x7e, by one comparison

    /// Appends a binary value under a name that ends in `-bin`; the suffix is added where it is missing.
    public mutating func addBinary(_ name: String, _ value: [UInt8]) {
        let name = name.lowercased()
        let encoded = String(decoding: Base64.encode(value), as: UTF8.self)
        appendEntry(name: name.hasSuffix("-bin") ? name : name + "-bin", value: encoded)
    }

    /// Appends all entries of another metadata.
    public mutating func add(contentsOf other: Metadata) { packed.append(contentsOf: other.packed) }

    private mutating func appendEntry(name: String, value: String) {
        var value = value
        value.withUTF8 { value in
            appendEntry(name: name, valueByteCount: value.count) { _ = $0.update(fromContentsOf: value) }
        }
    }

    /// Appends an entry whose value `write` writes: all of it, printable ASCII. The name is lowercase.
    mutating func appendEntry(
        name: String,
        valueByteCount: Int,
        write: (UnsafeMutableBufferPointer<UInt8>) -> Void
    ) {
        var name = name
        name.withUTF8 { name in
            let nameLength = Swift.min(name.count, Int(UInt16.max))
            let valueStart = Entries.lengthsByteCount + nameLength
            // Put together beside the array, which so grows once, and by what is there.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: valueStart + valueByteCount) { entry in
                let bytes = UnsafeMutableRawBufferPointer(entry)
                bytes.storeBytes(of: UInt16(truncatingIfNeeded: nameLength), as: UInt16.self)
                let valueLength = UInt32(truncatingIfNeeded: valueByteCount)
                bytes.storeBytes(of: valueLength, toByteOffset: MemoryLayout<UInt16>.size, as: UInt32.self)
                let nameBytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(name)[..<nameLength])
                UnsafeMutableRawBufferPointer(rebasing: bytes[Entries.lengthsByteCount...]).copyMemory(from: nameBytes)
                write(UnsafeMutableBufferPointer(rebasing: entry[valueStart...]))
                packed.append(contentsOf: UnsafeBufferPointer(entry))
            }
        }
    }

    /// The first value of a name, as it stands on the wire.
    public func first(_ name: String) -> String? {
        for entry in Entries(packed: packed) where entry.hasName(name, in: packed) {
            return entry.value(in: packed)
        }
        return nil
    }

    /// The value of a name that there is once; nil where there is none, or more than one.
    public func only(_ name: String) -> String? { onlyBytes(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of a name's value as `only` gives it, where they lie: nothing is copied.
    public func onlyBytes(_ name: String) -> ArraySlice<UInt8>? {
        var found: Range<Int>?
        for entry in Entries(packed: packed) where entry.hasName(name, in: packed) {
            guard found == nil else { return nil }
            found = entry.value
        }
        return found.map { packed[$0] }
    }

    /// All values of a name, in order.
    public func all(_ name: String) -> [String] {
        Entries(packed: packed).filter { $0.hasName(name, in: packed) }.map { $0.value(in: packed) }
    }

    /// The first value of a `-bin` name, decoded. Nil where there is none or it is not base64.
    public func firstBinary(_ name: String) -> [UInt8]? {
        let name = name.hasSuffix("-bin") ? name : name + "-bin"
        return first(name).flatMap { Base64.decode($0.utf8.prefix { $0 != Self.joint }) }
    }

    /// All values of a `-bin` name, decoded, in order; those that are not base64 are left out. A proxy may have joined
    /// several with commas (gRPC over HTTP/2, "Custom-Metadata").
    public func allBinary(_ name: String) -> [[UInt8]] {
        let name = name.hasSuffix("-bin") ? name : name + "-bin"
        return all(name).flatMap { value in
            value.utf8.split(separator: Self.joint, omittingEmptySubsequences: false).compactMap { Base64.decode($0) }
        }
    }

    private static let joint = UInt8(ascii: ",")

    /// The entries that `keeps` chooses by the bytes of name and value. Takes memory only where some are chosen and some are not.
    public func selecting(
        _ keeps: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) -> Metadata {
        var kept: [UInt8] = []
        var isCopy = false  // whether an entry was left out, so that `kept` has those that were chosen
        var chosenEnd = 0  // of the chosen entries in front, while none was left out
        packed.withUnsafeBytes { bytes in
            var entries = Entries(packed: packed)
            while let entry = entries.next() {
                let range = entry.name.lowerBound - Entries.lengthsByteCount..<entry.value.upperBound
                if keeps(.init(rebasing: bytes[entry.name]), .init(rebasing: bytes[entry.value])) {
                    guard isCopy else {
                        chosenEnd = range.upperBound
                        continue
                    }
                    if kept.isEmpty { kept.reserveCapacity(bytes.count) }
                    kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
                } else if !isCopy {
                    isCopy = true
                    if chosenEnd > 0 { kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<chosenEnd])) }
                }
            }
        }
        return isCopy ? Metadata(packed: kept) : self
    }

    /// Goes over the entries as text, in order.
    public func makeIterator() -> some IteratorProtocol<(name: String, value: String)> {
        let packed = packed
        return Entries(packed: packed).lazy.map { ($0.name(in: packed), $0.value(in: packed)) }
            .makeIterator()
    }
}

/// Walks packed entries; stops at the first that is cut short.
private struct Entries: Sequence, IteratorProtocol {
    let packed: [UInt8]
    var offset = 0

    init(packed: [UInt8]) { self.packed = packed }

    /// Bytes of the two lengths, in front of a name.
    static let lengthsByteCount = MemoryLayout<UInt16>.size + MemoryLayout<UInt32>.size

    struct Entry {
        let name: Range<Int>
        let value: Range<Int>

        func hasName(_ wanted: String, in packed: [UInt8]) -> Bool {
            guard name.count == wanted.utf8.count else { return false }
            // Where the text lies in one piece, as nearly all do, it is compared there.
            return wanted.utf8.withContiguousStorageIfAvailable { wanted in
                packed.withUnsafeBufferPointer { packed in
                    var index = 0
                    while index < wanted.count, packed[name.lowerBound + index] == wanted[index] { index += 1 }
                    return index == wanted.count
                }
            } ?? packed[name].elementsEqual(wanted.utf8)
        }
        func name(in packed: [UInt8]) -> String { String(decoding: packed[name], as: UTF8.self) }
        func value(in packed: [UInt8]) -> String { String(decoding: packed[value], as: UTF8.self) }
    }

    mutating func next() -> Entry? {
        let lengths = Self.lengthsByteCount
        guard packed.count - offset >= lengths else { return nil }
        let (nameLength, valueLength) = packed.withUnsafeBytes { bytes in
            (
                Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)),
                Int(
                    bytes.loadUnaligned(fromByteOffset: offset + MemoryLayout<UInt16>.size, as: UInt32.self)
                )
            )
        }
        let name = offset + lengths
        guard packed.count - name >= nameLength + valueLength else { return nil }
        offset = name + nameLength + valueLength
        return Entry(name: name..<name + nameLength, value: name + nameLength..<offset)
    }
}
