/// Where uploaded avatars are for apps: at the gateway's public URL, or at their path alone where it knows none.
struct AvatarAddress: Sendable {
    /// What the path of an uploaded avatar begins with, and its name at profile.
    static let prefix = "/avatars/"

    /// Scheme, host and port of the gateway as phones reach it; empty if it isn't known.
    let base: String
    /// How many bytes an image may have.
    let bytesMax: Int

    /// - Parameter publicURL: perhaps with a slash at its end; empty if it isn't known.
    init(publicURL: String = "", bytesMax: Int = 524_288) {
        base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
        self.bytesMax = bytesMax
    }

    /// The URL that apps get for an avatar of a profile; empty for none.
    func url(of avatar: String) -> String { avatar.hasPrefix(Self.prefix) ? base + avatar : avatar }

    /// The avatar's name at profile, of a URL that an app sends: an app that sends back our URL leaves the avatar as it is.
    func name(of url: String) -> String {
        guard !base.isEmpty, url.hasPrefix(base + Self.prefix) else { return url }
        return String(url.dropFirst(base.count))
    }
}
