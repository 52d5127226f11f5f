/// Converts an ECDSA signature between JOSE's form, r and s of fixed length one after the other (RFC 7518 section
/// 3.4), and libcrypto's, a DER sequence of two integers.
enum ECDSASignature {
    /// The DER form, or nil if the length is wrong.
    static func der(fromRaw raw: [UInt8], coordinateByteCount: Int) -> [UInt8]? {
        guard raw.count == 2 * coordinateByteCount else { return nil }
        let content = integer(raw[..<coordinateByteCount]) + integer(raw[coordinateByteCount...])
        // Two integers of at most 48 + 1 bytes: the length always fits one byte.
        return [0x30, UInt8(content.count)] + content
    }

    /// The fixed form, or nil if it is not the DER of two numbers that fit. Only DER's one spelling of a signature is read (X.690
    /// section 10.1): no sign, no needless zero in front of a number, nothing behind the second. Numbers that fit have at most 48 + 1
    /// bytes, so every length is one byte, and the longer forms match nothing.
    static func raw(fromDER der: [UInt8], coordinateByteCount: Int) -> [UInt8]? {
        guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard let number = takeInteger(&rest), number.count <= coordinateByteCount else { return nil }
            raw.append(contentsOf: repeatElement(0, count: coordinateByteCount - number.count))
            raw.append(contentsOf: number)
        }
        return rest.isEmpty ? raw : nil
    }

    /// Removes an integer from the front of `rest`, and returns it without the zero byte that keeps it positive.
    private static func takeInteger(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.count >= 2, rest.removeFirst() == 0x02 else { return nil }
        let count = Int(rest.removeFirst())
        guard count > 0, count <= rest.count else { return nil }
        let number = rest.prefix(count)
        rest = rest.dropFirst(count)
        guard let first = number.first, first & 0x80 == 0 else { return nil }
        guard first == 0, count > 1 else { return number }
        let significant = number.dropFirst()
        return significant.first.map { $0 & 0x80 != 0 } == true ? significant : nil
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var number = Array(bytes.drop { $0 == 0 })
        if number.isEmpty || number[0] & 0x80 != 0 {
            number.insert(0, at: 0)
        }
        return [0x02, UInt8(number.count)] + number
    }
}
