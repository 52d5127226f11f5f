import ServiceKit

/// The keys about browsers: pages of other origins, and Apple by web.
extension GatewayKeys {
    static let publicURL = ConfigurationKey.optionalURL(
        "VESTIBULE_GATEWAY_PUBLIC_URL",
        help:
            "The URL by which phones and browsers reach the gateway, without a path, such as https://api.example.com: "
            + "providers send browsers back there, and apps get the addresses of uploaded avatars under it. Needed where app URLs are given."
    )
    static let origins = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_ORIGINS",
        help:
            "The origins of web pages that may call the gateway (CORS), each exactly as browsers "
            + "write it, such as https://app.example.com or http://localhost:3000. Without it, no page "
            + "of another origin may."
    )
    static let appURLs = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_APP_URLS",
        help:
            "The app URLs that a browser may be redirected to after Apple by web, such as "
            + "com.example.app://signed-in. They are compared whole except for the query; the first is "
            + "the default. Without it, Apple by web is off."
    )
    static let appleWithoutState = ConfigurationKey.optionalList(
        "VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE",
        help:
            "Clients at Apple whose apps open Apple's page themselves and send no state, each with "
            + "the app URL of its redirect: com.example.services=com.example.app://signed-in. An "
            + "attacker can make such a browser sign in as another user, so new apps begin at "
            + "/auth/apple/start instead."
    )

    static let methodsPage = ConfigurationKey.bool(
        "VESTIBULE_GATEWAY_METHODS_PAGE",
        default: false,
        help:
            "For development: whether GET / returns a page that signs people in by the simulator and has all methods and "
            + "routes, each with a form and a curl line, and whether the log names VESTIBULE_GATEWAY_ORIGINS when a preflight "
            + "request of another origin is rejected."
    )

    static let simulatorURL = ConfigurationKey.optionalURL(
        "VESTIBULE_GATEWAY_SIMULATOR_URL",
        help:
            "For development: the origin of the provider simulator by which the page of VESTIBULE_GATEWAY_METHODS_PAGE "
            + "signs people in, such as http://127.0.0.1:7080. The simulator must allow the gateway's origin "
            + "(VESTIBULE_SIMULATOR_ORIGINS)."
    )

    static let signInPages = ConfigurationKey.bool(
        "VESTIBULE_GATEWAY_SIGN_IN_PAGES",
        default: false,
        help:
            "Whether the gateway has pages that sign users in and the OpenID Connect endpoints below /oauth2, for the "
            + "clients of VESTIBULE_IDENTITY_CLIENTS_FILE. It needs VESTIBULE_GATEWAY_PUBLIC_URL, which each provider "
            + "must know with /sign-in/{provider}/callback as a redirect URI."
    )

    static let languagesFolder = ConfigurationKey.optionalPath(
        "VESTIBULE_GATEWAY_LANGUAGES_FOLDER",
        help:
            "A folder of sentences of your own for the pages: files such as de.json, each a JSON object that replaces "
            + "sentences of a language or adds a language. Read at start; other files than .json are ignored."
    )
    static let supportURL = ConfigurationKey.optionalURL(
        "VESTIBULE_GATEWAY_SUPPORT_URL",
        help: "The page by which users reach you, such as https://example.com/help. Pages link to it where a user "
            + "can't sign in. Without it, they advise the user to contact the people who run the app."
    )

    static let browsers: [any AnyConfigurationKey] = [
        publicURL, origins, appURLs, appleWithoutState, methodsPage, simulatorURL, signInPages, languagesFolder,
        supportURL,
    ]
}
