import Logging

/// Writes a log line into memory that is there already. Whatever is in it, the result is exactly one line.
///
/// Lines are written for every call and request: so what needs no change is copied whole.
struct LineWriter {
    /// The longest value, in bytes; a longer one is cut.
    static let valueBytesMax = 8192

    private let room: UnsafeMutableBufferPointer<UInt8>
    /// The bytes written.
    private(set) var count = 0
    /// Whether something did not fit. What was written then is no line.
    private(set) var isOverfull = false

    /// Writes into memory that outlives it.
    init(_ room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

    /// Room for the next bytes, all of which the caller writes; nil if there is none.
    private mutating func take(_ byteCount: Int) -> UnsafeMutablePointer<UInt8>? {
        guard let base = room.baseAddress, byteCount <= room.count - count else {
            isOverfull = true
            return nil
        }
        defer { count += byteCount }
        return base + count
    }

    /// Bytes as they are.
    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, let place = take(bytes.count) else { return }
        place.update(from: source, count: bytes.count)
    }

    /// Text as it is.
    mutating func write(_ text: StaticString) {
        write(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// One byte.
    mutating func write(_ byte: UInt8) { take(1)?.pointee = byte }

    /// A comma, the name of a JSON member that needs no escape, and a colon.
    mutating func writeJSONName(_ name: StaticString) {
        let byteCount = name.utf8CodeUnitCount
        guard let place = take(byteCount + 4) else { return }
        place[0] = UInt8(ascii: ",")
        place[1] = UInt8(ascii: "\"")
        (place + 2).update(from: name.utf8Start, count: byteCount)
        place[byteCount + 2] = UInt8(ascii: "\"")
        place[byteCount + 3] = UInt8(ascii: ":")
    }

    /// Text without line ends or other control characters, so that nobody can forge a line.
    mutating func writePlain(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeBufferPointer(rebasing: bytes.prefix(Self.valueBytesMax))
            while let end = Self.firstControl(in: rest) {
                write(UnsafeBufferPointer(rebasing: rest[..<end]))
                write(0x20)
                rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
            }
            write(rest)
        }
    }

    /// A JSON string.
    mutating func writeJSONString(_ text: String) {
        // Cut between characters, so that the line stays valid UTF-8.
        var text = text.utf8.count > Self.valueBytesMax ? Self.cut(text) : text
        text.withUTF8 { bytes in
            guard Self.firstEscaped(in: bytes) == nil, let source = bytes.baseAddress else {
                return writeEscaped(bytes)
            }
            guard let place = take(bytes.count + 2) else { return }
            place[0] = UInt8(ascii: "\"")
            (place + 1).update(from: source, count: bytes.count)
            place[bytes.count + 1] = UInt8(ascii: "\"")
        }
    }

    /// A JSON string that needs escapes, or is empty.
    private mutating func writeEscaped(_ bytes: UnsafeBufferPointer<UInt8>) {
        write(UInt8(ascii: "\""))
        var rest = bytes
        while let end = Self.firstEscaped(in: rest) {
            write(UnsafeBufferPointer(rebasing: rest[..<end]))
            writeEscaped(rest[end])
            rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        }
        write(rest)
        write(UInt8(ascii: "\""))
    }

    private static func cut(_ text: String) -> String { String(text.unicodeScalars.prefix(valueBytesMax / 4)) + "…" }

    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write(#"\""#)
        case UInt8(ascii: "\\"): write(#"\\"#)
        case UInt8(ascii: "\n"): write(#"\n"#)
        case UInt8(ascii: "\r"): write(#"\r"#)
        case UInt8(ascii: "\t"): write(#"\t"#)
        default:
            write(#"\u00"#)
            writeHexDigit(byte >> 4)
            writeHexDigit(byte & 15)
        }
    }

    private mutating func writeHexDigit(_ value: UInt8) {
        write(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
    }

    /// A number with at least `width` digits.
    mutating func write(_ number: Int64, width: Int = 1) {
        if number < 0 { write(UInt8(ascii: "-")) }
        var digits = 1
        var rest = number.magnitude
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        write(number, digits: max(width, digits))
    }

    /// The last digits of a number's magnitude, so many.
    mutating func write(_ number: Int64, digits: Int) {
        guard let place = take(digits) else { return }
        var rest = number.magnitude
        for index in (0..<digits).reversed() {
            place[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// A byte, and two digits of a number that has no more.
    mutating func write(_ byte: UInt8, pair number: Int64) {
        guard let place = take(3) else { return }
        let number = UInt8(truncatingIfNeeded: number)
        place[0] = byte
        place[1] = UInt8(ascii: "0") + number / 10
        place[2] = UInt8(ascii: "0") + number % 10
    }

    // MARK: What needs a change

    private static func firstControl(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        for index in 0..<bytes.count where bytes[index] < 0x20 || bytes[index] == 0x7F { return index }
        return nil
    }

    private static func firstEscaped(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        // Eight at a time, until there is something to see.
        var index = 0
        let raw = UnsafeRawBufferPointer(bytes)
        while raw.count - index >= 8 {
            if haveEscaped(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { break }
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return nil
    }

    /// Whether one of eight bytes is a control character, DEL, a quotation mark or a backslash.
    private static func haveEscaped(_ bytes: UInt64) -> Bool {
        // What is subtracted borrows from a byte's highest bit where the byte is less.
        let each: UInt64 = 0x0101_0101_0101_0101
        func haveLess(_ bytes: UInt64, _ least: UInt64) -> UInt64 { (bytes &- each &* least) & ~bytes }
        let found =
            haveLess(bytes, 0x20) | haveLess(bytes ^ each &* 0x7F, 1) | haveLess(bytes ^ each &* 0x22, 1)
            | haveLess(bytes ^ each &* 0x5C, 1)
        return found & (each &* 0x80) != 0
    }
}
