import CRPC

/// Where and how a server listens.
public struct ServerConfiguration: Sendable {
    /// IPv4 or IPv6 address in digits.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    /// TLS; nil for clear text. A port is one or the other, and never guesses.
    public var tls: TLSConfiguration?
    /// The bounds of each connection. By default it is drained after five minutes without a call, and a PING asks whether
    /// the client is there after two hours without anything received.
    public var limits = ConnectionLimits()
    /// Connections at once, on all loops. Past it the one that has been without a call for longest makes room for a new
    /// one, or else the one that has been at its handshake for longest, once it has been for a second; until then new ones
    /// wait in the kernel. Fewer where the process may not open as many files (`RPCServer.connectionsMax`); where files run out all
    /// the same, connections make room in the same way.
    public var connectionsMax = 10_000
    /// Of these, those from one IPv4 address or one IPv6 network of 64 bits; 0 for no bound of its own. Past it one of the
    /// address's own makes room as above, or the new one is closed. Each loop counts for itself: it lets its share of them
    /// in, but eight at least.
    ///
    /// Half of all by default, so that no address takes every place: behind a proxy or a NAT all clients have one address.
    public var connectionsPerAddressMax = 5000
    /// Of these, those whose handshake is not complete: TLS and the client's first SETTINGS. Past it the one that has been
    /// at it for longest is closed.
    public var handshakesMax = 512
    /// Calls in flight at once, on all loops, and also handlers that run at once, counting handlers whose calls have ended.
    /// Past either, new calls end with RESOURCE_EXHAUSTED before their handler starts.
    public var callsMax = 20_000
    /// Bytes that clients may make the server hold, on all loops, counted as for `ConnectionLimits.bufferedBytesMax`. While a
    /// loop holds more than half of its part, no connection may hold more than an equal share of the other half, so that
    /// clients that make it hold much are refused and the others are still served.
    public var heldBytesMax = 256 << 20
    /// The names that the server answers to, beside addresses in digits and names without a dot such as `localhost`. A request
    /// whose `:authority` or Host is none of these gets 421 (RFC 9110 section 15.5.20), so that no web page reaches the server
    /// through a name of its own that it points here. Nil: any name.
    public var serverNames: [String]?
    /// Networks of proxies. A connection from them must begin with a header of PROXY protocol v2 in its binary form, in front
    /// of TLS; its client is who that says, for `PeerInfo.address` and `connectionsPerAddressMax`. A connection from elsewhere
    /// has none.
    public var acceptsProxyProtocol: [ProxyNetwork] = []

    /// A configuration with the default bounds.
    public init(host: String = "127.0.0.1", port: Int = 0, tls: TLSConfiguration? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
        limits.idleTimeout = .seconds(300)
        limits.keepaliveInterval = .seconds(7200)
    }

    /// One loop's share of `connectionsPerAddressMax`; the kernel spreads connections by chance.
    func connectionsPerAddressMax(loopCount: Int) -> Int {
        let share = (connectionsPerAddressMax + loopCount - 1) / loopCount
        return max(share, min(connectionsPerAddressMax, 8))
    }

    /// The configuration of a loop's listener, except texts and lists.
    func rawOptions(tls: TLSRules?, calls: CallTable, loopCount: Int, joinsPort: Bool) -> crpc_listener_options {
        var options = crpc_listener_options()
        options.port = UInt16(clamping: port)
        options.shared_port = loopCount > 1
        options.joins_port = joinsPort
        options.tls = tls?.handle
        options.limits = limits.raw
        options.connections_max = UInt32(clamping: max(1, connectionsMax / loopCount))
        options.connections_per_address_max = UInt32(clamping: connectionsPerAddressMax(loopCount: loopCount))
        options.handshakes_max = UInt32(clamping: max(1, handshakesMax / loopCount))
        options.calls_max = UInt32(clamping: max(1, callsMax / loopCount))
        options.held_bytes_max = UInt64(clamping: max(1, heldBytesMax / loopCount))
        options.calls = calls.handle
        return options
    }
}
