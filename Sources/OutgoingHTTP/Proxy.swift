import CCurl

/// A proxy for HTTP requests. It is printed without its password.
public struct Proxy: Sendable, Hashable, CustomStringConvertible {
    /// A URL that is not valid for a proxy.
    public struct Malformed: Error, Hashable, Sendable {}

    /// `http` or `https`: the protocol of the proxy itself.
    let scheme: String
    let host: RequestURL.Host
    let port: Int
    let user: String?
    let password: String?

    /// Parses `http://user:password@host:port` or `https://…`. User and password may be left out, and so may the scheme
    /// `http`. The default ports are 80 and 443.
    public init(_ text: String) throws(Malformed) {
        guard let url = RequestURL(text.contains("://") ? text : "http://\(text)", takesUser: true) else {
            throw Malformed()
        }
        (scheme, host, port) = (url.scheme, url.host, url.port)
        (user, password) = (url.user, url.password)
    }

    /// The URL in libcurl's format.
    var place: String { "\(scheme)://\(host.inURL):\(port)" }

    /// The proxy without user and password.
    public var description: String { place }
}

/// The proxies of requests, by the conventions of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
public struct ProxySettings: Sendable, Hashable {
    /// No proxies.
    public static let none = ProxySettings()

    /// The proxy for `https` URLs. It makes a tunnel, so that it sees only the host.
    public var https: Proxy?
    /// The proxy for `http` URLs: it sees the whole request.
    public var http: Proxy?
    /// The hosts that are connected to without a proxy.
    public var exceptions: ProxyExceptions

    /// Settings.
    public init(https: Proxy? = nil, http: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions("")) {
        self.https = https
        self.http = http
        self.exceptions = exceptions
    }

    /// The proxy for a URL. This machine is always connected to directly.
    func proxy(for url: RequestURL) -> Proxy? {
        guard let proxy = url.scheme == "https" ? https : http else { return nil }
        return url.host.isLoopback || exceptions.contain(url) ? nil : proxy
    }
}
