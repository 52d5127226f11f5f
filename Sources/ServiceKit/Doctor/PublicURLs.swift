/// The URLs by which users reach the system, as two programs are given them.
public struct PublicURLs: Sendable, Hashable {
    /// What tokens name, `VESTIBULE_IDENTITY_ISSUER`.
    public let issuer: String?
    /// Where browsers reach the gateway, `VESTIBULE_GATEWAY_PUBLIC_URL`.
    public let gateway: String?

    /// The keys, which identity and the gateway read.
    public static let issuerKey = ConfigurationKey<String?>.optionalURL(
        "VESTIBULE_IDENTITY_ISSUER",
        help: "The issuer."
    )
    /// The gateway's.
    public static let gatewayKey = ConfigurationKey<String?>.optionalURL(
        "VESTIBULE_GATEWAY_PUBLIC_URL",
        help: "The URL."
    )

    /// The URLs.
    public init(issuer: String?, gateway: String?) {
        self.issuer = issuer
        self.gateway = gateway
    }

    /// What is wrong with them.
    public var findings: [Finding] {
        var findings: [Finding] = []
        for (key, url) in [(Self.issuerKey.name, issuer), (Self.gatewayKey.name, gateway)] {
            guard let url, url.hasPrefix("http://"), !Self.isLoopback(url) else { continue }
            let problem = "is \(url): tokens and passwords of providers pass in clear"
            findings.append(
                Finding(.warning, key, problem, mend: "give it https:// and put HTTPS in front of the gateway")
            )
        }
        if let issuer, let gateway, Self.trimmed(issuer) != Self.trimmed(gateway) {
            findings.append(
                Finding(
                    .warning,
                    Self.issuerKey.name,
                    "is \(issuer), but \(Self.gatewayKey.name) is \(gateway): programs that verify tokens look for keys at the first",
                    mend: "make both the same, unless both lead to the gateway"
                )
            )
        }
        return findings
    }

    private static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    private static func isLoopback(_ url: String) -> Bool {
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        return (HostPort(String(authority)) ?? HostPort("\(authority):80"))?.isLoopback ?? false
    }
}
