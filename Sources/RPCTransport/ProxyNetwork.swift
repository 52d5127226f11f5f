import CRPC

/// A network of proxies, such as `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct ProxyNetwork: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// Reads a network. Nil if it is none, or has bits of an address behind its prefix.
    public init?(_ text: String) {
        var raw = crpc_proxy_network()
        guard crpc_proxy_network_parse(text, &raw) == 0 else { return nil }
        self.text = text
    }

    /// As it was written.
    public var description: String { text }

    var raw: crpc_proxy_network {
        var raw = crpc_proxy_network()
        let failure = crpc_proxy_network_parse(text, &raw)
        precondition(failure == 0, "a network that was read before is read again")
        return raw
    }
}
