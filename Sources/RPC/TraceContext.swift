/// Where a call stands in a distributed trace, as the headers `traceparent` and `tracestate` say it.
///
/// Source: W3C Trace Context (https://www.w3.org/TR/trace-context/), sections 3.2 and 3.3. Read strictly: a malformed
/// or repeated `traceparent` is none, and a malformed `tracestate` is left out.
public struct TraceContext: Sendable, Hashable {
    /// The trace's id: 32 lowercase hexadecimal digits, not all zero.
    public let traceID: String
    /// The id of the caller's span: 16 lowercase hexadecimal digits, not all zero.
    public let spanID: String
    /// Whether the caller may have recorded its span.
    public let isSampled: Bool
    /// The vendors' entries of `tracestate`, as they stand there; empty if there are none.
    public let state: String

    static let parentName = "traceparent"
    static let stateName = "tracestate"
    /// Longest `tracestate` that is handed on; the last members of a longer one are left out (section 3.3.1.5).
    static let stateBytesMax = 512
    /// Most members of a `tracestate` (section 3.3.1.1).
    static let stateMembersMax = 32

    /// Reads the trace context of a call; nil if it has none.
    public init?(_ metadata: Metadata) {
        guard let text = metadata.only(Self.parentName), let parent = Parent(text) else { return nil }
        traceID = parent.traceID
        spanID = parent.spanID
        isSampled = parent.isSampled
        let states = metadata.all(Self.stateName)
        state = states.isEmpty ? "" : Self.state(states.joined(separator: ","))
    }

    /// A trace that begins here. As nobody records it, it is not sampled: its id is for logs.
    public static func root() -> TraceContext {
        TraceContext(traceID: UniqueIDs.digits32(), spanID: UniqueIDs.digits16(), isSampled: false, state: "")
    }

    private init(traceID: String, spanID: String, isSampled: Bool, state: String) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// The context of a call that is made from here: the same trace, and a new span id.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: UniqueIDs.digits16(), isSampled: isSampled, state: state)
    }

    /// Appends the headers, in version 00.
    public func add(to metadata: inout Metadata) {
        metadata.add(Self.parentName, "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")")
        if !state.isEmpty { metadata.add(Self.stateName, state) }
    }
}

// MARK: - traceparent

extension TraceContext {
    /// `version-trace id-span id-flags`; a version after 00 may go on after another hyphen.
    private struct Parent {
        let traceID: String
        let spanID: String
        let isSampled: Bool

        private static let length = 55
        private static let sampledFlag: UInt8 = 1

        init?(_ text: String) {
            var text = text
            let parts = text.withUTF8 { bytes -> (traceID: String, spanID: String, flags: UInt8)? in
                guard bytes.count >= Self.length, let version = Self.octet(bytes, at: 0), version != 0xff,
                    bytes.count == Self.length || (version != 0 && bytes[Self.length] == UInt8(ascii: "-")),
                    bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"), bytes[52] == UInt8(ascii: "-"),
                    let traceID = Self.id(bytes[3..<35]), let spanID = Self.id(bytes[36..<52]),
                    let flags = Self.octet(bytes, at: 53)
                else { return nil }
                return (traceID, spanID, flags)
            }
            guard let parts else { return nil }
            traceID = parts.traceID
            spanID = parts.spanID
            isSampled = parts.flags & Self.sampledFlag != 0
        }

        /// The bytes as text if they are lowercase hexadecimal digits, and not all zero.
        private static func id(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
            var isZero = true
            for byte in bytes {
                guard hexValue(byte) != nil else { return nil }
                if byte != UInt8(ascii: "0") { isZero = false }
            }
            return isZero ? nil : String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
        }

        /// The value of two lowercase hexadecimal digits.
        private static func octet(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt8? {
            guard let high = hexValue(bytes[index]), let low = hexValue(bytes[index + 1]) else { return nil }
            return high << 4 | low
        }

        private static func hexValue(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
    }
}

// MARK: - tracestate

extension TraceContext {
    /// The members that are handed on; none where one is malformed or two have the same key.
    private static func state(_ text: String) -> String {
        var keys: Set<Substring> = []
        var members: [Substring] = []
        for member in text.split(separator: ",") {
            let member = trimmed(member)
            if member.isEmpty { continue }
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, isKey(parts[0]), isValue(parts[1]), keys.insert(parts[0]).inserted else {
                return ""
            }
            members.append(member)
        }
        guard members.count <= stateMembersMax else { return "" }
        while members.reduce(members.count - 1, { $0 + $1.utf8.count }) > stateBytesMax { members.removeLast() }
        return members.joined(separator: ",")
    }

    /// Without the spaces and tabs around it.
    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let front = text.drop(while: isSpace)
        return front.lastIndex { !isSpace($0) }.map { front[...$0] } ?? ""
    }

    private static func isKey(_ key: Substring) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z"), digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard 1...256 ~= key.utf8.count, let first = key.utf8.first, letters ~= first || digits ~= first else {
            return false
        }
        return key.utf8.allSatisfy { letters ~= $0 || digits ~= $0 || "_-*/@".utf8.contains($0) }
    }

    private static func isValue(_ value: Substring) -> Bool {
        1...256 ~= value.utf8.count && value.utf8.allSatisfy { 0x20...0x7e ~= $0 && $0 != UInt8(ascii: "=") }
    }
}
