/// The bounds of an HTTP server of ours.
public struct HTTPLimits: Sendable {
    /// How long a request may take from its head to its answer.
    public var requestTimeout: Duration
    /// The largest request body, in bytes.
    public var bodyBytesMax: Int
    /// The largest header block of a request, in bytes.
    public var headerBytesMax: Int
    /// The most header fields of a request.
    public var headerFieldsMax: Int
    /// The most open connections. Past it the one without a request for longest makes room for a new one, or new ones wait in
    /// the system's queue.
    public var connectionsMax: Int
    /// Of these, those from one IPv4 address or IPv6 network of 64 bits; 0 for no bound of its own.
    public var connectionsPerAddressMax = 0
    /// How long a connection may be idle, or take to send a request's head.
    public var idleTimeout: Duration
    /// Age past which a connection takes no more requests, with a jitter of 10 % either way. The next one proves its certificate anew.
    /// Zero: never.
    public var connectionAgeMax: Duration = .zero

    /// Limits.
    public init(
        requestTimeout: Duration = .seconds(5),
        bodyBytesMax: Int = 64 * 1024,
        headerBytesMax: Int = 16 * 1024,
        headerFieldsMax: Int = 100,
        connectionsMax: Int = 4096,
        idleTimeout: Duration = .seconds(60)
    ) {
        self.requestTimeout = requestTimeout
        self.bodyBytesMax = bodyBytesMax
        self.headerBytesMax = headerBytesMax
        self.headerFieldsMax = headerFieldsMax
        self.connectionsMax = connectionsMax
        self.idleTimeout = idleTimeout
    }
}
