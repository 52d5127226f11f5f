/// The head of a response, from the lines that libcurl passes one by one. Interim responses (1xx) before it and trailers
/// after it are dropped.
struct ResponseHead {
    /// The maximum of bytes of all lines, those of interim responses and trailers included.
    static let bytesMax = 65_536

    private enum State { case before, inside, behind }
    private var state = State.before
    private var isInterim = false
    private var byteCount = 0
    /// Whether the head of the final response is complete.
    var isComplete: Bool { state == .behind }
    private(set) var fields: [OutgoingRequest.Field] = []

    /// Adds a line with its end. False if the maximum is exceeded.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        guard byteCount <= Self.bytesMax else { return false }
        var text = line[...]
        while let last = text.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") { text.removeLast() }
        switch state {
        case .behind: break
        case .before:
            state = .inside
            fields = []
            isInterim = Self.isInterim(text)
        case .inside:
            if text.isEmpty {
                state = isInterim ? .before : .behind
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                fields.append((Self.text(text[..<colon]), Self.text(text[(colon + 1)...])))
            }
        }
        return true
    }

    /// Whether a status line, such as `HTTP/1.1 103 Early Hints`, is that of an interim response.
    private static func isInterim(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
        return line[(space + 1)...].first == UInt8(ascii: "1")
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
