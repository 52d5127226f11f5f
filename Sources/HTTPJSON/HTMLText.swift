/// Text of strangers in pages.
public enum HTMLText {
    /// The text of an element, or of an attribute in quotes (WHATWG HTML section 13.3).
    public static func escaped(_ text: String) -> String {
        let count = text.utf8.reduce(into: 0) { count, byte in count += reference(byte)?.utf8CodeUnitCount ?? 1 }
        // Most texts have nothing to escape, and are returned as they are.
        guard count != text.utf8.count else { return text }
        return String(unsafeUninitializedCapacity: count) { buffer in
            var end = 0
            for byte in text.utf8 {
                if let reference = reference(byte) {
                    for index in 0..<reference.utf8CodeUnitCount { buffer[end + index] = reference.utf8Start[index] }
                    end += reference.utf8CodeUnitCount
                } else {
                    buffer[end] = byte
                    end += 1
                }
            }
            return end
        }
    }

    /// The character reference in the place of a byte. All that have one are ASCII, so no byte of a longer character is taken for one.
    private static func reference(_ byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}
