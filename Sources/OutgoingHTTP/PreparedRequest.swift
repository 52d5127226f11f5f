/// A checked request, with its route.
struct PreparedRequest: Sendable {
    let method: OutgoingRequest.Method
    let target: String
    let url: RequestURL
    let proxy: Proxy?
    /// Header lines in libcurl's format.
    let headerLines: [String]
    let timeout: Duration
    let bodyBytesMax: Int
    let dropsBody: Bool
    /// Whether the client must keep it from private addresses.
    let staysPublic: Bool
    let isIdempotent: Bool

    /// The maximum timeout of a request; a longer one counts as this.
    private static let timeoutMax: Duration = .seconds(86_400)
    private static let noURL = OutgoingHTTPError(.url, mayHaveBeenSent: false)

    /// Throws if the request is invalid.
    init(_ request: OutgoingRequest, proxies: ProxySettings) throws(OutgoingHTTPError) {
        target = request.target
        guard let url = RequestURL(target) else { throw Self.noURL }
        self.url = url
        proxy = proxies.proxy(for: url)
        method = request.method
        isIdempotent = request.isIdempotent
        timeout = min(max(request.timeout, .zero), Self.timeoutMax)
        bodyBytesMax = request.bodyBytesMax
        dropsBody = request.body == .dropped
        staysPublic = request.reach == .publicAddresses && proxy == nil
        var headerLines = ["Expect:"]  // no pause before a body
        if case .other(let name, let body, let mediaType) = request.method {
            guard Self.isToken(name), name != "HEAD", name != "CONNECT" else { throw Self.noURL }
            headerLines.append(body == nil ? "Content-Type:" : "Content-Type: \(mediaType)")
        }
        for header in request.headers {
            guard Self.isToken(header.name), header.value.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
                throw OutgoingHTTPError(.connection("a header field cannot be sent"), mayHaveBeenSent: false)
            }
            // A field without a value: with a colon libcurl would omit the field.
            headerLines.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        self.headerLines = headerLines
    }

    /// The host and port of a connection.
    typealias Hop = (host: RequestURL.Host, port: Int)

    /// The target of the connection: the proxy, or the server itself.
    var nextHop: Hop { proxy.map { ($0.host, $0.port) } ?? (url.host, url.port) }

    /// Whether a text is a token (RFC 9110 section 5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
