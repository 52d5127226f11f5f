/// A request to an external server.
public struct OutgoingRequest: Sendable, CustomStringConvertible {
    /// A name with a value: of a header, a query or a form.
    public typealias Field = (name: String, value: String)

    /// The method, with its parameters or body.
    public enum Method: Sendable {
        /// GET, with these parameters added to the URL's query.
        case get(query: [Field] = [])
        /// POST of a form (`application/x-www-form-urlencoded`).
        case postForm([Field])
        /// Any other method but HEAD and CONNECT, such as `PATCH`, with a body of that media type or none.
        case other(String, body: [UInt8]? = nil, mediaType: String = "application/json")
    }

    /// The addresses that a request may use.
    public enum Reach: Sendable {
        /// All addresses.
        case anywhere
        /// Only ``PublicAddress``es. The address of the connection is checked, whatever the host's name is. If a proxy makes the
        /// connection, the proxy decides.
        case publicAddresses
    }

    /// What to do with the body of a response.
    public enum Body: Sendable {
        /// Collect it; an incomplete body is an error.
        case collected
        /// Drop it: the response is its head. As much of the body is read as the request allows, to keep the connection usable.
        case dropped
    }

    /// The URL, `https` or `http`.
    public let url: String
    /// The method, with its parameters or body.
    public let method: Method
    /// Additional headers. Values must be visible ASCII and spaces.
    public let headers: [Field]
    /// The timeout of the whole call, from the wait for a connection to the end of the body.
    public let timeout: Duration
    /// The maximum length of the response's body in bytes.
    public let bodyBytesMax: Int
    /// What to do with the body.
    public let body: Body
    /// The addresses that it may use.
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

    /// The method and the URL without its query, which may contain tokens.
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

    /// Whether its method is idempotent (RFC 9110 section 9.2.2).
    var isIdempotent: Bool {
        switch method {
        case .get: true
        case .postForm: false
        case .other(let method, _, _): ["GET", "PUT", "DELETE", "OPTIONS"].contains(method)
        }
    }
}
