import HTTPJSON
import ServiceKit

/// Apple by web as it is configured: where Apple posts to, and which apps browsers are sent on to.
struct WebSignIn: Sendable {
    /// The path that Apple posts to.
    static let callbackPath = "/auth/apple/callback"

    /// The redirect URI that Apple must know.
    let callbackURL: String
    /// The app URLs, without queries; the first one is the default.
    let appURLs: [AppURL]
    /// The clients that may come without state, and the app URL of each.
    let withoutState: [String: AppURL]

    /// The app URL of a request: the default if it names none, nil for one that isn't configured.
    func appURL(_ text: String?) -> AppURL? {
        guard let text else { return appURLs.first }
        return AppURL(text).flatMap { url in appURLs.contains { $0.base == url.base } ? url : nil }
    }

    /// The app URL of a form without state, before anything tells which client it is for: known if there is just one.
    var onlyWithoutState: AppURL? {
        let urls = Set(withoutState.values)
        return urls.count == 1 ? urls.first : nil
    }
}

extension WebSignIn {
    /// Apple by web of a configuration; nil if it is off.
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> WebSignIn? {
        let appURLs = (configuration[GatewayKeys.appURLs] ?? []).compactMap { appURL($0, &faults) }
        let withoutState = withoutState(configuration, appURLs, &faults)
        guard configuration[GatewayKeys.appURLs] != nil else { return nil }
        guard let url = configuration[GatewayKeys.publicURL] else {
            faults.append(
                ConfigurationError(
                    key: GatewayKeys.publicURL.name,
                    problem: "is needed with \(GatewayKeys.appURLs.name): Apple sends browsers back to it"
                )
            )
            return nil
        }
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        guard CrossOrigin.isOrigin(base) else {
            faults.append(
                ConfigurationError(
                    key: GatewayKeys.publicURL.name,
                    problem: "must be scheme, host and port alone, such as https://api.example.com"
                )
            )
            return nil
        }
        return WebSignIn(callbackURL: base + callbackPath, appURLs: appURLs, withoutState: withoutState)
    }

    private static func appURL(_ text: String, _ faults: inout [ConfigurationError]) -> AppURL? {
        if let url = AppURL(text), url.query == nil { return url }
        faults.append(
            ConfigurationError(
                key: GatewayKeys.appURLs.name,
                problem:
                    "has \(quoted(text)), which is no URL of an app such as com.example.app://signed-in or https://example.com/app, without a query"
            )
        )
        return nil
    }

    private static func withoutState(
        _ configuration: Configuration,
        _ appURLs: [AppURL],
        _ faults: inout [ConfigurationError]
    ) -> [String: AppURL] {
        var clients: [String: AppURL] = [:]
        for item in configuration[GatewayKeys.appleWithoutState] ?? [] {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty, let url = appURLs.first(where: { $0.text == parts[1] }),
                clients.updateValue(url, forKey: parts[0]) == nil
            else {
                faults.append(
                    ConfigurationError(
                        key: GatewayKeys.appleWithoutState.name,
                        problem:
                            "has \(quoted(item)), which is not client=app-url: each client once, and its URL one of \(GatewayKeys.appURLs.name)"
                    )
                )
                continue
            }
        }
        return clients
    }
}

extension GatewaySettings {
    /// The pages of other origins that may call; nil for none.
    static func crossOrigin(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> CrossOrigin? {
        guard let origins = configuration[GatewayKeys.origins] else { return nil }
        if let wrong = origins.first(where: { !CrossOrigin.isOrigin($0) }) {
            faults.append(
                ConfigurationError(
                    key: GatewayKeys.origins.name,
                    problem:
                        "has \(quoted(wrong)), which is no origin as browsers write it: scheme, host in lower case and a port that "
                        + "is not the scheme's own, such as https://app.example.com; no path, and * is none"
                )
            )
        }
        return CrossOrigin(
            origins: origins,
            requestFields: crossOriginFields,
            answerFields: crossOriginAnswerFields
        )
    }
}
