/// The rule for every URL of a provider: an attacker who can change the response of its key set or token endpoint can sign anyone
/// in, so it must come over TLS. A simulator may be asked by `http` where that was switched on: on this machine, or by a name under
/// `.test`, which stands for nobody on the Internet (RFC 6761 section 6.2), but for whom the network's own names say.
public enum ProviderURL {
    /// The longest URL, in bytes.
    public static let bytesMax = 2048

    /// Whether an acceptable URL is asked by TLS.
    public static func isEncrypted(_ url: String) -> Bool { url.hasPrefix("https://") }

    /// Whether an acceptable URL is asked by `http` on this machine, where nobody on a network can answer in its place.
    public static func isLocal(_ url: String) -> Bool {
        guard !isEncrypted(url) else { return false }
        return !authority(of: url.dropFirst("http://".count)).prefix { $0 != ":" }.hasSuffix(".test")
    }

    /// Whether a provider may be asked at this URL, by `http` if that is switched on. Never one with a fragment, which no
    /// server sees.
    public static func isAcceptable(_ url: String) -> Bool {
        guard url.utf8.count <= bytesMax, url.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "#") })
        else { return false }
        if url.hasPrefix("https://") {
            return !authority(of: url.dropFirst("https://".count)).isEmpty
        }
        guard url.hasPrefix("http://") else { return false }
        let authority = authority(of: url.dropFirst("http://".count))
        if authority.hasPrefix("[::1]") { return isPort(authority.dropFirst("[::1]".count)) }
        let host = authority.prefix { $0 != ":" }
        guard isPort(authority.dropFirst(host.count)) else { return false }
        return host == "127.0.0.1" || host == "localhost" || (host.hasSuffix(".test") && !host.hasPrefix("."))
    }

    /// Whether this is nothing, or a colon and digits.
    private static func isPort(_ rest: Substring) -> Bool {
        rest.isEmpty || (rest.first == ":" && rest.dropFirst().utf8.allSatisfy { 48...57 ~= $0 })
    }

    /// What stands before the path; empty if it holds user information, which would disguise the host.
    private static func authority(of rest: Substring) -> Substring {
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.contains("@") || authority.contains("\\") ? "" : authority
    }
}
