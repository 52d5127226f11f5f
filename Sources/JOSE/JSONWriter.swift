/// Writes compact JSON (RFC 8259) directly into bytes: for frequent responses, without building a ``JSONObject`` first. The caller
/// writes each name at most once in an object; names must not need escapes.
///
/// Has one owner, who frees its memory. The memory grows with the text.
public struct JSONWriter: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity = usualCapacity
    private var count = 0

    /// The initial capacity in bytes, enough for most objects.
    private static let usualCapacity = 512

    /// The text of an object.
    ///
    /// - Parameter addMembers: adds the members, in their order.
    public static func object(_ addMembers: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.writeObject(addMembers)
        return writer.bytes
    }

    /// Nothing written yet.
    init() { start = .allocate(capacity: Self.usualCapacity) }

    deinit { start.deallocate() }

    /// The text written so far.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    // MARK: Members

    /// Adds a member that is a string.
    public mutating func add(_ name: StaticString, _ text: String) {
        writeName(name)
        write(text)
    }

    /// Adds a member that is a string, or null for an empty one.
    public mutating func add(_ name: StaticString, orNull text: String) {
        writeName(name)
        if text.isEmpty { writeLiteral("null") } else { write(text) }
    }

    /// Adds a member that is an integer.
    public mutating func add(_ name: StaticString, _ number: Int64) {
        writeName(name)
        write(number)
    }

    /// Adds a Boolean member.
    public mutating func add(_ name: StaticString, _ value: Bool) {
        writeName(name)
        write(value)
    }

    /// Adds a member that is null.
    public mutating func addNull(_ name: StaticString) {
        writeName(name)
        writeLiteral("null")
    }

    /// Adds a member that is an array of strings, or null.
    public mutating func add(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return addNull(name) }
        writeName(name)
        writeArray(texts) { $1.write($0) }
    }

    /// Adds a member that is an array of objects.
    ///
    /// - Parameter addMembers: adds the members of one object.
    public mutating func add<Element>(
        _ name: StaticString,
        _ elements: [Element],
        addMembers: (Element, inout JSONWriter) -> Void
    ) {
        writeName(name)
        writeArray(elements) { element, writer in writer.writeObject { addMembers(element, &$0) } }
    }

    /// Adds a member that is an object.
    ///
    /// - Parameter addMembers: adds its members.
    public mutating func add(_ name: StaticString, addMembers: (inout JSONWriter) -> Void) {
        writeName(name)
        writeObject(addMembers)
    }

    private mutating func writeName(_ name: StaticString) {
        writeComma()
        write(UInt8(ascii: "\""))
        writeLiteral(name)
        write(UInt8(ascii: "\""))
        write(UInt8(ascii: ":"))
    }

    /// Writes the comma before each member or element but the first.
    private mutating func writeComma() {
        let last = start[count - 1]
        if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { write(UInt8(ascii: ",")) }
    }

    // MARK: Parts

    // For callers that learn the names at run time. They must keep JSON's order: a name, then its value.

    /// Begins a member: its value follows.
    public mutating func begin(_ name: JSONMemberName) {
        writeComma()
        name.bytes.withUnsafeBufferPointer { write($0) }
    }

    /// Begins an object, as a member's value or as an array's element.
    public mutating func beginObject() { write(UInt8(ascii: "{")) }

    /// Ends an object.
    public mutating func endObject() { write(UInt8(ascii: "}")) }

    /// Writes an array.
    ///
    /// - Parameter write: writes an element.
    public mutating func array<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        writeArray(elements, write)
    }

    /// Writes null.
    public mutating func writeNull() { writeLiteral("null") }

    // MARK: Values

    private mutating func writeObject(_ addMembers: (inout JSONWriter) -> Void) {
        write(UInt8(ascii: "{"))
        addMembers(&self)
        write(UInt8(ascii: "}"))
    }

    private mutating func writeArray<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        self.write(UInt8(ascii: "["))
        for element in elements {
            writeComma()
            write(element, &self)
        }
        self.write(UInt8(ascii: "]"))
    }

    /// Writes a value of any kind.
    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: writeLiteral("null")
        case .bool(let value): write(value)
        case .integer(let value): write(value)
        case .number(var literal): literal.withUTF8 { write($0) }
        case .string(let value): write(value)
        case .array(let elements): writeArray(elements) { $1.write($0) }
        case .object(let object): write(object)
        }
    }

    /// Writes an object.
    mutating func write(_ object: JSONObject) {
        writeObject { writer in
            for member in object.members {
                writer.writeComma()
                writer.write(member.name)
                writer.write(UInt8(ascii: ":"))
                writer.write(member.value)
            }
        }
    }

    /// Writes a Boolean value.
    public mutating func write(_ value: Bool) { writeLiteral(value ? "true" : "false") }

    /// Writes an integer.
    public mutating func write(_ number: Int64) {
        var digits = String(number)
        digits.withUTF8 { write($0) }
    }

    /// Writes a string.
    public mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { writeString($0) }
    }

    private mutating func writeString(_ text: UnsafeBufferPointer<UInt8>) {
        write(UInt8(ascii: "\""))
        if Self.needsEscape(UnsafeRawBufferPointer(text)) {
            for byte in text { writeEscaped(byte) }
        } else {
            write(text)
        }
        write(UInt8(ascii: "\""))
    }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            write(UInt8(ascii: "\\"))
            write(byte)
        case 0x00..<0x20:
            writeLiteral("\\u00")
            for digit in Hex.encode([byte]).utf8 { write(digit) }
        default: write(byte)
        }
    }

    private static func needsEscape(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Eight at a time.
        var index = 0
        while bytes.count - index >= 8 {
            if haveEscaped(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { return true }
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return true }
            index += 1
        }
        return false
    }

    /// Whether one of eight bytes is a control character, a quotation mark or a backslash.
    private static func haveEscaped(_ bytes: UInt64) -> Bool {
        // Where a byte is less than the subtrahend, the subtraction borrows from the byte's highest bit.
        let each: UInt64 = 0x0101_0101_0101_0101
        func haveLess(_ bytes: UInt64, _ least: UInt64) -> UInt64 { (bytes &- each &* least) & ~bytes }
        let found = haveLess(bytes, 0x20) | haveLess(bytes ^ each &* 0x22, 1) | haveLess(bytes ^ each &* 0x5C, 1)
        return found & (each &* 0x80) != 0
    }

    // MARK: Bytes

    private mutating func writeLiteral(_ text: StaticString) { text.withUTF8Buffer { write($0) } }

    private mutating func write(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        start[count] = byte
        count += 1
    }

    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        if bytes.count > capacity - count { grow(by: bytes.count) }
        (start + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    private mutating func grow(by byteCount: Int) {
        capacity = max(capacity * 2, count + byteCount)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }
}

extension JSONValue {
    /// The value's UTF-8 text, compact, members in their order.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }
}

extension JSONObject {
    /// The object's UTF-8 text, compact, members in their order.
    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.write(self)
        return writer.bytes
    }

    /// The same as a string.
    public var text: String { String(decoding: serialized(), as: UTF8.self) }
}

/// The name of an object's member, encoded as JSON.
public struct JSONMemberName: Sendable {
    /// The name in quotes, and the colon.
    fileprivate let bytes: [UInt8]

    /// A name.
    public init(_ name: String) { bytes = JSONValue.string(name).serialized() + [UInt8(ascii: ":")] }
}
