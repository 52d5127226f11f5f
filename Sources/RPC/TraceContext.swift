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
        let parents = metadata.all(Self.parentName)
        guard parents.count == 1, let parent = Parent(parents[0]) else { return nil }
        traceID = parent.traceID
        spanID = parent.spanID
        isSampled = parent.isSampled
        state = Self.state(metadata.all(Self.stateName).joined(separator: ","))
    }

    /// A trace that begins here. As nobody records it, it is not sampled: its id is for logs.
    public static func root() -> TraceContext {
        let traceID = hex16(UInt64.random(in: 1 ... .max)) + hex16(UInt64.random(in: 0 ... .max))
        let spanID = hex16(UInt64.random(in: 1 ... .max))
        return TraceContext(traceID: traceID, spanID: spanID, isSampled: false, state: "")
    }

    private static func hex16(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private init(traceID: String, spanID: String, isSampled: Bool, state: String) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// The context of a call that is made from here: the same trace, and a new span id.
    public func child() -> TraceContext {
        let spanID = Self.hex16(.random(in: 1 ... .max))
        return TraceContext(traceID: traceID, spanID: spanID, isSampled: isSampled, state: state)
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
            let bytes = Array(text.utf8)
            guard bytes.count >= Self.length, let version = Self.hex(bytes[0..<2]), version != "ff",
                bytes.count == Self.length || (version != "00" && bytes[Self.length] == UInt8(ascii: "-")),
                [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
                let traceID = Self.hex(bytes[3..<35]), traceID.contains(where: { $0 != "0" }),
                let spanID = Self.hex(bytes[36..<52]), spanID.contains(where: { $0 != "0" }),
                let flags = Self.hex(bytes[53..<55]).flatMap({ UInt8($0, radix: 16) })
            else { return nil }
            self.traceID = traceID
            self.spanID = spanID
            isSampled = flags & Self.sampledFlag != 0
        }

        /// The bytes as text if they are lowercase hexadecimal digits.
        private static func hex(_ bytes: ArraySlice<UInt8>) -> String? {
            let isHex = bytes.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
            return isHex ? String(decoding: bytes, as: UTF8.self) : nil
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
