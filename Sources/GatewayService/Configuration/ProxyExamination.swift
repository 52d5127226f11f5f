import ServiceKit

/// Whether the gateway learns the addresses of clients behind the proxies in front of it. A pure value.
struct ProxyExamination: Sendable, Hashable {
    /// The URL by which users reach the gateway.
    var publicURL: String?
    /// Whether the gateway itself speaks TLS.
    var hasCertificate: Bool
    /// The proxies that name clients in a header.
    var trusted: [IPNetwork]
    /// The proxies that name clients at the beginning of a connection.
    var byProtocol: [IPNetwork]

    /// As configured.
    init(_ configuration: Configuration) {
        publicURL = configuration[GatewayKeys.publicURL]
        hasCertificate = configuration[GatewayKeys.tls.certificate] != nil
        trusted = configuration[GatewayKeys.trustedProxies]
        byProtocol = configuration[GatewayKeys.proxyProtocol]
    }

    /// What is wrong.
    var findings: [Finding] {
        var findings: [Finding] = []
        for (key, networks) in [
            (GatewayKeys.trustedProxies.name, trusted), (GatewayKeys.proxyProtocol.name, byProtocol),
        ] {
            guard let all = networks.first(where: { $0.description.hasSuffix("/0") }) else { continue }
            findings.append(
                Finding(
                    .failure,
                    key,
                    "has \(all), so each client may name any address as its own, and no limit holds",
                    mend: "name only the networks of your proxies"
                )
            )
        }
        if publicURL?.hasPrefix("https://") == true, !hasCertificate, trusted.isEmpty, byProtocol.isEmpty {
            findings.append(
                Finding(
                    .warning,
                    GatewayKeys.trustedProxies.name,
                    "is not set, but something speaks HTTPS for \(GatewayKeys.publicURL.name): the limits count all clients as one",
                    mend: "name the networks of that proxy"
                )
            )
        }
        return findings
    }
}
