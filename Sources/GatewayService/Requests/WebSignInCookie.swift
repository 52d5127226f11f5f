import HTTPJSON
import JOSE
import WebPages

/// The cookie of a browser that began Apple by web: the state that Apple gives back, so that nobody makes a browser finish what
/// another one began, and the app URL, for when Apple gives back no more than an error.
///
/// `__Host-` keeps subdomains and http from setting it (RFC 6265bis section 4.1.3.2). Apple's form comes from another site,
/// so it must be SameSite=None, and with it Secure; browsers but Safari take such cookies from http://localhost too.
struct WebSignInCookie: Sendable, Hashable {
    static let name = "__Host-vestibule-apple"
    /// How long a sign-in may take, in seconds: as long as identity's state.
    static let maxAgeSeconds = 600

    /// Identity's state.
    let state: String
    /// Where the browser is sent at the end; whether it may be is for the reader to check again.
    let appURL: String

    init(state: String, appURL: String) {
        self.state = state
        self.appURL = appURL
    }

    /// The cookie of a request; nil if there is none, or more than one of the name.
    init?(_ request: Request) {
        guard let value = request.cookie(Self.name),
            let dot = value.lastIndex(of: "."),
            let bytes = Base64URL.decode(value[value.index(after: dot)...]),
            let url = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(state: String(value[..<dot]), appURL: url)
    }

    /// What sets it.
    var setting: String {
        Self.setting("\(state).\(Base64URL.encode(appURL.utf8))", maxAgeSeconds: Self.maxAgeSeconds)
    }

    /// What takes it away.
    static let clearing = setting("", maxAgeSeconds: 0)

    private static func setting(_ value: String, maxAgeSeconds: Int) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(maxAgeSeconds); Secure; HttpOnly; SameSite=None"
    }
}
