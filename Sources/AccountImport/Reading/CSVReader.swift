/// A record of a CSV file.
public struct CSVRecord: Sendable, Hashable {
    /// The line on which it begins.
    public let line: Int64
    /// Its fields; an empty field counts as none. Nil if its bytes are not UTF-8, or contain NUL.
    public let fields: [String]?
    /// How many fields there are.
    public let count: Int
}

/// Reads CSV strictly (RFC 4180): commas, fields in double quotes with quotes doubled, lines that end with LF or CRLF, also within
/// quotes. Anything else is an error that ends the reading: after a misplaced quote the rest is ambiguous.
public struct CSVReader {
    /// The longest record, in bytes.
    public static let recordBytesMax = 1024 * 1024
    /// The longest field, in bytes.
    public static let fieldBytesMax = 256 * 1024

    private enum State {
        /// Before the first byte of a field.
        case start
        /// In a field without quotes.
        case plain
        /// Between the quotes.
        case quoted
        /// After a quote that ends the field, or is the first of two.
        case behindQuote
    }

    var input: ByteInput
    private var content: [UInt8] = []
    private var ends: [Int] = []

    /// A reader from the current position of the input.
    init(_ input: ByteInput) { self.input = input }

    /// The next record; nil at the end. Empty lines are skipped.
    mutating func next() throws(ImportError) -> CSVRecord? {
        while true {
            let line = input.line
            guard let isBlank = try read(from: line) else { return nil }
            if isBlank { continue }
            return CSVRecord(line: line, fields: texts(), count: ends.count)
        }
    }

    /// Reads a record. Returns whether it is an empty line; nil at the end.
    private mutating func read(from line: Int64) throws(ImportError) -> Bool? {
        content.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        guard try input.peek() != nil else { return nil }
        var state = State.start
        var isBlank = true
        while true {
            guard let byte = try input.next() else {
                guard state != .quoted else { throw input.fault("a quoted field has no end", line: line) }
                ends.append(content.count)
                return isBlank
            }
            if byte == UInt8(ascii: "\n"), state != .quoted {
                ends.append(content.count)
                return isBlank
            }
            if byte == UInt8(ascii: "\r"), state != .quoted {
                guard try input.peek() == UInt8(ascii: "\n") else {
                    throw input.fault("a carriage return without a line feed")
                }
                continue
            }
            isBlank = false
            state = try take(byte, state)
            guard content.count <= Self.recordBytesMax, content.count - (ends.last ?? 0) <= Self.fieldBytesMax else {
                throw input.fault(
                    "a field of more than \(Self.fieldBytesMax) or a record of more than \(Self.recordBytesMax) bytes: is a quote "
                        + "missing?",
                    line: line
                )
            }
        }
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8, _ state: State) throws(ImportError) -> State {
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        switch state {
        case .start, .plain:
            if byte == comma {
                ends.append(content.count)
                return .start
            }
            if byte == quote {
                guard state == .start else { throw input.fault("a quote within a field that doesn't begin with one") }
                return .quoted
            }
            content.append(byte)
            return .plain
        case .quoted:
            if byte == quote { return .behindQuote }
            content.append(byte)
            return .quoted
        case .behindQuote:
            if byte == quote {
                content.append(quote)
                return .quoted
            }
            guard byte == comma else {
                throw input.fault("characters between a field's last quote and the comma")
            }
            ends.append(content.count)
            return .start
        }
    }

    private func texts() -> [String]? {
        var texts: [String] = []
        texts.reserveCapacity(ends.count)
        var start = 0
        for end in ends {
            guard let text = String(validating: content[start..<end], as: UTF8.self), !text.utf8.contains(0) else {
                return nil
            }
            texts.append(text)
            start = end
        }
        return texts
    }
}
