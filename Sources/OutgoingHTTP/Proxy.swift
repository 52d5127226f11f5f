import CCurl

/// A proxy for HTTP requests. It is printed without its password.
public struct Proxy: Sendable, Hashable, CustomStringConvertible {
    /// A URL that is none of a proxy.
    public struct Malformed: Error, Hashable, Sendable {}

    /// `http` or `https`: how the proxy itself is spoken to.
    let scheme: String
    let host: RequestURL.Host
    let port: Int
    let user: String?
    let password: String?

    /// A proxy from `http://user:password@host:port` or `https://…`. User and password may be left out, and so may the scheme
    /// `http`. Ports are 80 and 443 where none is given.
    public init(_ text: String) throws(Malformed) {
        guard let url = RequestURL(text.contains("://") ? text : "http://\(text)", takesUser: true) else {
            throw Malformed()
        }
        (scheme, host, port) = (url.scheme, url.host, url.port)
        (user, password) = (url.user, url.password)
    }

    /// As libcurl takes it.
    var place: String { "\(scheme)://\(host.inURL):\(port)" }

    /// The proxy without user and password.
    public var description: String { place }
}

/// Which requests go through which proxy: what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say by custom.
public struct ProxySettings: Sendable, Hashable {
    /// No proxy for anything.
    public static let none = ProxySettings()

    /// The proxy for `https` URLs: asked for a tunnel, so that it sees the host and nothing more.
    public var https: Proxy?
    /// The proxy for `http` URLs: it sees the whole request.
    public var http: Proxy?
    /// The hosts that are asked without a proxy.
    public var exceptions: ProxyExceptions

    /// Settings.
    public init(https: Proxy? = nil, http: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions("")) {
        self.https = https
        self.http = http
        self.exceptions = exceptions
    }

    /// The proxy for a URL. This machine itself is always asked directly.
    func proxy(for url: RequestURL) -> Proxy? {
        guard let proxy = url.scheme == "https" ? https : http else { return nil }
        return url.host.isLoopback || exceptions.contain(url) ? nil : proxy
    }
}
