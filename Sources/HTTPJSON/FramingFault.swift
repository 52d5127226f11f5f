import HTTPTypes
import NIOHTTP1

/// What is wrong with how a request is put into HTTP/1.1, and so with all that follows on its connection.
enum FramingFault: String, Sendable, CaseIterable {
    /// No Host, which HTTP/1.1 requires, or more than one (RFC 9112 section 3.2).
    case hostCount = "HOST_COUNT"
    /// A Host that can be none (RFC 9110 section 7.2).
    case hostMalformed = "HOST_MALFORMED"
    /// A Transfer-Encoding that leaves the body's length open, or contradicts something (RFC 9112 section 6.1, 6.3).
    case transferEncodingInvalid = "TRANSFER_ENCODING_INVALID"
    /// A transfer coding that we do not know before the chunks (RFC 9112 section 6.1).
    case transferEncodingUnknown = "TRANSFER_ENCODING_UNKNOWN"
    /// A header block over the limits (RFC 6585 section 5).
    case headersTooLarge = "HEADERS_TOO_LARGE"
    /// Anything else that is no HTTP/1.1.
    case malformed = "REQUEST_MALFORMED"

    /// The fault of this name; ``malformed`` for any other text.
    init(rawValue: String) { self = Self.allCases.first { $0.rawValue == rawValue } ?? .malformed }

    /// The fault of a head; nil if there is none.
    init?(_ head: HTTPRequestHead) {
        var hosts = 0
        var transferEncoding: String?
        var hasContentLength = false
        var fault: FramingFault?
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where Self.isSame(name, "host"):
                hosts += 1
                if !Self.isHost(value) { fault = .hostMalformed }
            case 14 where Self.isSame(name, "content-length"): hasContentLength = true
            case 17 where Self.isSame(name, "transfer-encoding"):
                transferEncoding = transferEncoding.map { "\($0),\(value)" } ?? value
            default: break
            }
        }
        let isOld = head.version == .http1_0
        if hosts > 1 || hosts == 0 && !isOld { fault = .hostCount }
        if head.version.major != 1 { fault = .malformed }
        if let transferEncoding, fault == nil {
            let codings = transferEncoding.lowercased().split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.filter { $0 != " " && $0 != "\t" } }
            if hasContentLength || isOld || codings.last != "chunked" {
                fault = .transferEncodingInvalid
            } else if codings.count > 1 {
                fault = codings.dropLast().contains("chunked") ? .transferEncodingInvalid : .transferEncodingUnknown
            }
        }
        guard let fault else { return nil }
        self = fault
    }

    /// The answer to it, after which the connection ends: where the next request begins is anybody's guess.
    var problem: Problem {
        switch self {
        case .transferEncodingUnknown:
            Problem(
                .notImplemented,
                code: rawValue,
                detail: "This transfer coding is not known here; send chunked alone.",
                closesConnection: true
            )
        case .headersTooLarge:
            Problem(
                .requestHeaderFieldsTooLarge,
                code: rawValue,
                detail: "The header fields are too many or too large.",
                closesConnection: true
            )
        case .hostCount: refused("An HTTP/1.1 request has one Host field.")
        case .hostMalformed: refused("The Host field is no host with an optional port.")
        case .transferEncodingInvalid: refused("The Transfer-Encoding field leaves open where the body ends.")
        case .malformed: refused("This is no HTTP/1.1 request.")
        }
    }

    private func refused(_ detail: String) -> Problem {
        Problem(.badRequest, code: rawValue, detail: detail, closesConnection: true)
    }

    private static func isSame(_ name: String, _ lowercased: StaticString) -> Bool {
        lowercased.withUTF8Buffer { other in name.utf8.elementsEqual(other) { $0 | 0x20 == $1 } }
    }

    /// `uri-host [ ":" port ]` of RFC 3986 section 3.2, by its bytes; it may be empty.
    private static func isHost(_ value: String) -> Bool {
        value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: allowedInHost.contains(byte)
            }
        }
    }

    private static let allowedInHost = Array("-._~!$&'()*+,;=:[]%".utf8)
}
