/// Where and how a server listens.
public struct ServerConfiguration: Sendable {
    /// IPv4 or IPv6 address in digits.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    /// TLS; nil for clear text (HTTP/2 by prior knowledge).
    public var tls: TLSConfiguration?
    /// The bounds of each connection. Unlike a client's, they have it asked whether its peer is there after two hours.
    public var limits = ConnectionLimits()
    /// Connections at once, on all loops; past it new ones wait in the kernel.
    public var connectionsMax = 10_000
    /// Of these, those that have not yet said all that a connection begins with; past it the one that has been at it for
    /// longest is closed.
    public var handshakesMax = 512
    /// Calls in flight at once, and handlers that run at once, those of calls among them that have ended already, on all
    /// loops; past either calls end with RESOURCE_EXHAUSTED before their handler starts.
    public var callsMax = 20_000
    /// Bytes that clients may make the server hold, on all loops, counted as for `ConnectionLimits.bufferedBytesMax`. While a
    /// loop holds more than half of its part, no connection may hold more than an equal share of the other half, so that
    /// those who make it hold much are refused and the others go on.
    public var heldBytesMax = 256 << 20

    /// A configuration with the default bounds.
    public init(host: String = "127.0.0.1", port: Int = 0, tls: TLSConfiguration? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
        limits.keepaliveInterval = .seconds(7200)
    }
}
