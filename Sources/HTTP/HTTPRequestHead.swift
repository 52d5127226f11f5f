import HTTPTypes
import RPC

/// The head of a request, in any version of HTTP.
public struct HTTPRequestHead: Sendable {
    /// The version of HTTP.
    public var version: HTTPVersion
    /// Its method.
    public var method: HTTPRequest.Method
    /// Path and query as they were sent; `*` of OPTIONS (RFC 9112 section 3.2).
    public var target: String
    /// Host or `:authority`; empty if HTTP/1.0 has none.
    public var authority: String
    /// The fields in order, names in lower case; without those of the connection or framing.
    public var fields: Metadata
    /// The value of Content-Length; nil if there is none.
    public var contentLength: Int?
    /// Whether a body may follow.
    public var hasBody: Bool
    /// The error in it; then nothing of the request follows, and unreadable parts are empty.
    public var fault: HTTPError?

    /// A head.
    public init(
        version: HTTPVersion = .http11,
        method: HTTPRequest.Method,
        target: String,
        authority: String = "",
        fields: Metadata = Metadata(),
        contentLength: Int? = nil,
        hasBody: Bool = false,
        fault: HTTPError? = nil
    ) {
        self.version = version
        self.method = method
        self.target = target
        self.authority = authority
        self.fields = fields
        self.contentLength = contentLength
        self.hasBody = hasBody
        self.fault = fault
    }

    /// Whether the method is one of RFC 9110 section 9, RFC 5789 (PATCH), RFC 4918 (WebDAV, which crawlers send) or QUERY. Other
    /// methods get 501 (RFC 9110 section 15.6.2); a known method that the path doesn't allow gets 405.
    public var isMethodKnown: Bool {
        switch method {
        case .get, .post, .put, .patch, .delete, .head, .options: true
        default: Self.rareMethods.contains(method.rawValue)
        }
    }

    private static let rareMethods: Set = [
        "CONNECT", "TRACE", "QUERY", "COPY", "MOVE", "LOCK", "UNLOCK", "MKCOL", "PROPFIND", "PROPPATCH",
    ]

    /// The target without its query.
    public var path: Substring { target.prefix { $0 != "?" } }

    /// The target's query without the question mark; nil if there is none.
    public var query: Substring? {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return target[target.utf8.index(after: mark)...]
    }
}

/// A version of HTTP.
public enum HTTPVersion: Sendable, Hashable {
    case http10
    case http11
    case http2
}

/// An error in a request's syntax (RFC 9112). On HTTP/1.x the rest of the connection can't be read either.
public enum HTTPError: String, Error, Sendable, Hashable, CaseIterable {
    /// Not HTTP.
    case malformed = "REQUEST_MALFORMED"
    /// No Host, which HTTP/1.1 requires, or more than one (section 3.2).
    case hostCount = "HOST_COUNT"
    /// An invalid Host (RFC 9110 section 7.2).
    case hostMalformed = "HOST_MALFORMED"
    /// A Content-Length that is not one number (section 6.3).
    case contentLengthInvalid = "CONTENT_LENGTH_INVALID"
    /// A Transfer-Encoding that leaves the body's length open, or contradicts another field (sections 6.1, 6.3).
    case transferEncodingInvalid = "TRANSFER_ENCODING_INVALID"
    /// An unknown transfer coding (section 6.1).
    case transferEncodingUnknown = "TRANSFER_ENCODING_UNKNOWN"
    /// A head over the limits (RFC 6585 section 5).
    case headTooLarge = "HEADERS_TOO_LARGE"
    /// A target over the limit (RFC 9110 section 15.5.15).
    case targetTooLong = "TARGET_TOO_LONG"
    /// An unsupported version, or gRPC over HTTP/1.x.
    case version = "HTTP_VERSION_UNSUPPORTED"
    /// A head that was not complete in time.
    case headTimeout = "HEAD_TIMEOUT"
    /// CONNECT, or on HTTP/1.x a method that is longer than all known ones (RFC 9112 section 3). Other unknown methods are not
    /// this error: see ``HTTPRequestHead/isMethodKnown``.
    case methodUnknown = "METHOD_UNKNOWN"

    /// The status of the response.
    public var status: Int {
        switch self {
        case .malformed, .hostCount, .hostMalformed, .contentLengthInvalid, .transferEncodingInvalid: 400
        case .headTimeout: 408
        case .targetTooLong: 414
        case .headTooLarge: 431
        case .transferEncodingUnknown, .methodUnknown: 501
        case .version: 505
        }
    }
}
