/// A request to somebody else's server.
public struct OutgoingRequest: Sendable, CustomStringConvertible {
    /// A name with a value: of a header, a query or a form.
    public typealias Field = (name: String, value: String)

    /// What is asked.
    public enum Method: Sendable {
        /// GET, with these added to the URL's query.
        case get(query: [Field] = [])
        /// POST of a form (`application/x-www-form-urlencoded`).
        case postForm([Field])
        /// Any other method but HEAD and CONNECT, such as `PATCH`, with a body of that media type or none.
        case other(String, body: [UInt8]? = nil, mediaType: String = "application/json")
    }

    /// Where a request may go.
    public enum Reach: Sendable {
        /// Anywhere.
        case anywhere
        /// To ``PublicAddress``es alone, by whatever name. It is the address that is connected to which counts. Where a proxy is
        /// asked to go there, the proxy decides.
        case publicAddresses
    }

    /// What becomes of the body of an answer.
    public enum Body: Sendable {
        /// It is collected; without the whole of it there is no answer.
        case collected
        /// Nobody wants it: the head is the answer. So much as the request allows is read, so that the connection may be used again.
        case dropped
    }

    /// The URL, `https` or `http`.
    public let url: String
    /// What is asked.
    public let method: Method
    /// Headers besides those that the client adds. Values must be visible ASCII and spaces.
    public let headers: [Field]
    /// How long the whole call may take, from the wait for a connection to the end of the body.
    public let timeout: Duration
    /// The longest body of an answer, in bytes.
    public let bodyBytesMax: Int
    /// What becomes of it.
    public let body: Body
    /// Where it may go.
    public let reach: Reach

    /// A request.
    public init(
        _ method: Method,
        _ url: String,
        headers: [Field] = [],
        timeout: Duration,
        bodyBytesMax: Int,
        body: Body = .collected,
        reach: Reach = .anywhere
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.timeout = timeout
        self.bodyBytesMax = bodyBytesMax
        self.body = body
        self.reach = reach
    }

    /// The method and the URL without its query, where tokens stand.
    public var description: String {
        let place = url.prefix { $0 != "?" && $0 != "#" }
        return switch method {
        case .get: "GET \(place)"
        case .postForm: "POST \(place)"
        case .other(let method, _, _): "\(method) \(place)"
        }
    }

    /// The URL with the query of a GET.
    var target: String {
        guard case .get(let query) = method, !query.isEmpty else { return url }
        return url + (url.contains("?") ? "&" : "?") + FormEncoding.encode(query)
    }

    /// Whether sending it twice does no more than sending it once, by its method (RFC 9110 section 9.2.2).
    var isIdempotent: Bool {
        switch method {
        case .get: true
        case .postForm: false
        case .other(let method, _, _): ["GET", "PUT", "DELETE", "OPTIONS"].contains(method)
        }
    }
}
