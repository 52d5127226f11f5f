/// Which paths can be one of ours: written in one way only, so that no rule about paths can be passed by another spelling.
enum RequestPath {
    /// Whether the path is `/`, or segments of which none is empty, a dot segment (RFC 3986 section 3.3), or holds an
    /// encoded slash, backslash, dot or zero byte, a bad escape, or a byte that no URI has.
    ///
    /// A path that is not plain is answered 404 before anything looks at it: no route of ours needs what it could mean.
    static func isPlain(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        guard path.first == slash else { return false }
        return path.count == 1
            || path.dropFirst().split(separator: slash, omittingEmptySubsequences: false).allSatisfy(isPlainSegment)
    }

    private static let slash = UInt8(ascii: "/")

    private static func isPlainSegment(_ segment: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        if segment.isEmpty || segment.count <= 2 && segment.allSatisfy({ $0 == UInt8(ascii: ".") }) { return false }
        var rest = segment
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(HexDigit.value),
                    let low = rest.popFirst().flatMap(HexDigit.value)
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
}
