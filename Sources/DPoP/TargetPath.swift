/// Paths of URIs (RFC 3986 section 3.3).
enum TargetPath {
    private static let percent = UInt8(ascii: "%")
    private static let slash = UInt8(ascii: "/")

    /// The path in its one spelling; nil for one that doesn't begin with `/` or has a character that no path has.
    static func normalized(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first else { return "/" }
        guard first == slash, let decoded = decodedUnreserved(bytes) else { return nil }
        // After decoding: `%2e%2e` is a dot segment too.
        return String(decoding: withoutDotSegments(decoded), as: UTF8.self)
    }

    /// Letters, digits, and four other characters (section 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// What a path has besides unreserved characters and `%`: `/` and the rest of `pchar`.
    private static let others = Set("/!$&'()*+,;=:@".utf8)

    /// Sections 6.2.2.1 and 6.2.2.2: an escaped unreserved character stands for itself, the digits of the others are upper-case.
    private static func decodedUnreserved(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == percent else {
                guard isUnreserved(byte) || others.contains(byte) else { return nil }
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            let escaped = high << 4 | low
            result += isUnreserved(escaped) ? [escaped] : [percent, character(high), character(low)]
        }
        return result
    }

    /// Section 5.2.4, of a path that begins with `/`.
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        let segments = path.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in segments.enumerated() {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent { _ = kept.popLast() }
            // A dot segment at the end leaves its slash.
            if index == segments.count - 1 { kept.append([]) }
        }
        return [slash] + Array(kept.joined(separator: [slash]))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}
