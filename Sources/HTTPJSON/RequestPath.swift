/// Which paths can be one of ours: written in one way only, so that no rule about paths can be passed by another spelling.
enum RequestPath {
    /// Whether the path is `/`, or segments of which none is empty, a dot segment (RFC 3986 section 3.3), or holds an
    /// encoded slash, backslash, dot or zero byte, a bad escape, or a byte that no URI has.
    ///
    /// A path that is not plain is answered 404 before anything looks at it: no route of ours needs what it could mean.
    ///
    /// - Parameter mayEndWithSlash: whether one slash at the end is fine too.
    static func isPlain(_ path: String, mayEndWithSlash: Bool = false) -> Bool {
        var path = path
        if mayEndWithSlash, path.utf8.count > 1, path.utf8.last == slash { path.removeLast() }
        return path.withUTF8 { bytes in
            guard bytes.first == slash else { return false }
            return bytes.count == 1
                || bytes.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
                    .allSatisfy(isPlainSegment)
        }
    }

    private static let slash = UInt8(ascii: "/")

    private static func isPlainSegment(_ segment: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        if segment.isEmpty || segment.count <= 2 && segment.allSatisfy({ $0 == UInt8(ascii: ".") }) { return false }
        var rest = segment
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
                else { return false }
                switch high << 4 | low {
                case 0, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "."): return false
                default: break
                }
            case UInt8(ascii: "\\"), UInt8(ascii: "#"), ...0x20, 0x7f...: return false
            default: break
            }
        }
        return true
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
