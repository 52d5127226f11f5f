/// Where a call stands in a distributed trace, as the headers `traceparent` and `tracestate` say it.
///
/// Source: W3C Trace Context (https://www.w3.org/TR/trace-context/), sections 3.2 and 3.3. Read strictly: a malformed
/// or repeated `traceparent` is none, and a malformed `tracestate` is left out.
public struct TraceContext: Sendable, Hashable {
    private let traceHigh: UInt64
    private let traceLow: UInt64
    private let span: UInt64
    /// Whether the caller may have recorded its span.
    public let isSampled: Bool
    /// The vendors' entries of `tracestate`, as they stand there; empty if there are none.
    public let state: String

    /// The trace's id: 32 lowercase hexadecimal digits, not all zero.
    public var traceID: String { String(hexadecimal: traceHigh, traceLow) }
    /// The id of the caller's span: 16 lowercase hexadecimal digits, not all zero.
    public var spanID: String { String(hexadecimal: span) }

    static let parentName = "traceparent"
    static let stateName = "tracestate"
    private static let parentLength = 55
    /// Longest `tracestate` that is handed on; the last members of a longer one are left out (section 3.3.1.5).
    static let stateBytesMax = 512
    /// Most members of a `tracestate` (section 3.3.1.1).
    static let stateMembersMax = 32

    /// Reads the trace context of a call; nil if it has none.
    public init?(_ metadata: Metadata) {
        guard let text = metadata.only(Self.parentName), let parent = Parent(text) else { return nil }
        traceHigh = parent.traceHigh
        traceLow = parent.traceLow
        span = parent.span
        isSampled = parent.isSampled
        let states = metadata.all(Self.stateName)
        state = states.isEmpty ? "" : Self.state(states.joined(separator: ","))
    }

    /// Reads what ``parent`` wrote; nil if it is none.
    public init?(parent text: String) {
        guard let parent = Parent(text) else { return nil }
        traceHigh = parent.traceHigh
        traceLow = parent.traceLow
        span = parent.span
        isSampled = parent.isSampled
        state = ""
    }

    /// The value of `traceparent`, in version 00.
    public var parent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// A trace that begins here. As nobody records it, it is not sampled: its id is for logs.
    public static func root() -> TraceContext {
        TraceContext(
            traceHigh: UniqueNumbers.nextNonzero(),
            traceLow: UniqueNumbers.next(),
            span: UniqueNumbers.nextNonzero(),
            isSampled: false,
            state: ""
        )
    }

    private init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, isSampled: Bool, state: String) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.isSampled = isSampled
        self.state = state
    }

    /// The context of a call that is made from here: the same trace, and a new span id.
    public func child() -> TraceContext {
        TraceContext(
            traceHigh: traceHigh,
            traceLow: traceLow,
            span: UniqueNumbers.nextNonzero(),
            isSampled: isSampled,
            state: state
        )
    }

    /// Appends the headers, in version 00.
    public func add(to metadata: inout Metadata) {
        metadata.appendEntry(name: Self.parentName, valueByteCount: Self.parentLength) { text in
            let (zero, hyphen) = (UInt8(ascii: "0"), UInt8(ascii: "-"))
            (text[0], text[1], text[2]) = (zero, zero, hyphen)
            traceHigh.writeHexadecimal(to: text, at: 3)
            traceLow.writeHexadecimal(to: text, at: 19)
            text[35] = hyphen
            span.writeHexadecimal(to: text, at: 36)
            (text[52], text[53], text[54]) = (hyphen, zero, isSampled ? UInt8(ascii: "1") : zero)
        }
        if !state.isEmpty { metadata.add(Self.stateName, state) }
    }
}

// MARK: - traceparent

extension TraceContext {
    /// `version-trace id-span id-flags`; a version after 00 may go on after another hyphen.
    private struct Parent {
        let traceHigh: UInt64
        let traceLow: UInt64
        let span: UInt64
        let isSampled: Bool

        private static let sampledFlag: UInt64 = 1

        init?(_ text: String) {
            var text = text
            guard let parent = text.withUTF8(Self.init) else { return nil }
            self = parent
        }

        private init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            let hyphen = UInt8(ascii: "-")
            guard bytes.count >= TraceContext.parentLength, let version = Self.number(bytes, 0..<2), version != 0xff,
                bytes.count == TraceContext.parentLength
                    || (version != 0 && bytes[TraceContext.parentLength] == hyphen),
                bytes[2] == hyphen, bytes[35] == hyphen, bytes[52] == hyphen,
                let traceHigh = Self.number(bytes, 3..<19), let traceLow = Self.number(bytes, 19..<35),
                traceHigh | traceLow != 0, let span = Self.number(bytes, 36..<52), span != 0,
                let flags = Self.number(bytes, 53..<55)
            else { return nil }
            self.traceHigh = traceHigh
            self.traceLow = traceLow
            self.span = span
            isSampled = flags & Self.sampledFlag != 0
        }

        /// The number that lowercase hexadecimal digits write, at most sixteen; nil if they are none.
        private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt64? {
            var number: UInt64 = 0
            for byte in bytes[range] {
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
                case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
                default: return nil
                }
            }
            return number
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
