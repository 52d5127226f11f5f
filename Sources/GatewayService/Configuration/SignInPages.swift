import ServiceKit
import WebPages

/// The pages that sign in, and OpenID Connect by them, as they are configured.
struct SignInPages: Sendable, Hashable {
    /// Scheme, host and port by which browsers reach the gateway.
    let origin: String
    /// Whether providers post to the path of Cognito's hosted pages, where an app was registered at them before.
    var hasCognitoPaths = false
    /// Where users reach the operator; nil if nothing is configured.
    var supportURL: String?

    /// Whether browsers come by http, which only the machine that they run on may.
    let isClear: Bool

    /// The pages below an origin; nil for http of another machine, whose cookies anybody on the way could read.
    init?(origin: String) {
        guard let origin = PageOrigin(origin) else { return nil }
        self.origin = origin.text
        isClear = origin.isClear
    }
}

extension SignInPages {
    /// The pages of a configuration; nil if they are off.
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> SignInPages? {
        guard configuration[GatewayKeys.signInPages] else { return nil }
        guard let url = configuration[GatewayKeys.publicURL] else {
            faults.append(
                ConfigurationError(
                    key: GatewayKeys.publicURL.name,
                    problem: "is needed with \(GatewayKeys.signInPages.name): providers send browsers back to it"
                )
            )
            return nil
        }
        var pages = SignInPages(origin: url.hasSuffix("/") ? String(url.dropLast()) : url)
        pages?.hasCognitoPaths = configuration[GatewayKeys.dialects].contains(.cognito)
        pages?.supportURL = configuration[GatewayKeys.supportURL]
        if pages == nil {
            faults.append(
                ConfigurationError(
                    key: GatewayKeys.publicURL.name,
                    problem:
                        "must be scheme, host and port alone with \(GatewayKeys.signInPages.name), of https, or of "
                        + "http at 127.0.0.1, [::1] or localhost"
                )
            )
        }
        return pages
    }
}
