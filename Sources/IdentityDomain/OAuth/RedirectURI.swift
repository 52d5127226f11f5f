/// A redirect URI of an OAuth client, as its entry in the clients file has it: where a browser may be sent with an answer.
public struct RedirectURI: Sendable, Hashable {
    /// The longest URI, in bytes.
    public static let bytesMax = 512

    /// Why a text can't be a redirect URI.
    public enum Problem: Error, Sendable, Hashable {
        /// Empty, longer than ``bytesMax``, or with a byte that no URI has (RFC 3986 section 2).
        case malformed
        /// With a fragment (RFC 6749 section 3.1.2).
        case fragment
        /// With a user name or a password.
        case userInformation
        /// Of http, for another host than the literals 127.0.0.1 and [::1] (RFC 8252 section 7.3; `localhost` is not among them,
        /// section 8.3).
        case clearText
        /// Of a scheme without a dot that isn't https or http (RFC 8252 section 7.1): also `javascript`, `data` and `file`.
        case scheme
    }

    /// The URI.
    public let text: String
    /// The URI without its port, if it leads to this machine by a literal address: any port is admitted then.
    private let withoutPort: String?

    /// A URI that may be registered.
    ///
    /// - Parameter allowsShortSchemes: whether an app's own scheme may have no dot, for apps that exist. Any app may claim such a scheme.
    public init(_ text: String, allowsShortSchemes: Bool = false) throws(Problem) {
        guard 1...Self.bytesMax ~= text.utf8.count, text.utf8.allSatisfy(Self.isURIByte) else { throw .malformed }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
        guard let colon = text.firstIndex(of: ":") else { throw .scheme }
        let scheme = text[..<colon]
        guard scheme == scheme.lowercased() else { throw .malformed }
        switch scheme {
        case "https", "http":
            guard let authority = Self.authority(text[colon...]) else { throw .malformed }
            guard !authority.text.contains("@") else { throw .userInformation }
            guard Self.isHost(authority.host), authority.hasValidPort else { throw .malformed }
            let isLoopback = scheme == "http" && ["127.0.0.1", "[::1]"].contains(authority.host)
            guard scheme == "https" || isLoopback else { throw .clearText }
            withoutPort = isLoopback ? "http://\(authority.host)\(authority.rest)" : nil
        default:
            let isOwn =
                Self.isPrivate(scheme) && text[colon...].count > 1
                || allowsShortSchemes && Self.isShort(scheme) && text[colon...].hasPrefix("://")
            guard isOwn else { throw .scheme }
            withoutPort = nil
        }
        self.text = text
    }

    /// Whether a request may name this URI: exactly this one, but for the port of a loopback address (RFC 8252 section 7.3).
    public func admits(_ requested: String) -> Bool {
        // By bytes: `==` takes the Kelvin sign for a K.
        if requested.utf8.elementsEqual(text.utf8) { return true }
        guard let withoutPort, requested.utf8.count <= Self.bytesMax,
            let other = try? RedirectURI(requested), let otherWithoutPort = other.withoutPort
        else { return false }
        return otherWithoutPort == withoutPort
    }

    /// The parts behind `scheme`, if there is an authority (RFC 3986 section 3.2).
    private static func authority(_ rest: Substring) -> (
        text: Substring, host: String, hasValidPort: Bool, rest: Substring
    )? {
        guard rest.hasPrefix("://") else { return nil }
        let hierarchy = rest.dropFirst(3)
        let end = hierarchy.firstIndex { $0 == "/" || $0 == "?" } ?? hierarchy.endIndex
        let authority = hierarchy[..<end]
        let bracket = authority.lastIndex(of: "]")
        let portColon = authority[(bracket ?? authority.startIndex)...].lastIndex(of: ":")
        let host = String(authority[..<(portColon ?? authority.endIndex)])
        let port = portColon.map { authority[authority.index(after: $0)...] }
        let hasValidPort =
            port.map { 1...5 ~= $0.count && $0.allSatisfy(\.isASCIIDigit) && Int($0) ?? 0 <= 65_535 } ?? true
        return (authority, host, hasValidPort, hierarchy[end...])
    }

    /// Whether brackets, if there are any, enclose the whole (RFC 3986 section 3.2.2).
    private static func isHost(_ host: String) -> Bool {
        let inner = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
        return !inner.isEmpty && !inner.contains { $0 == "[" || $0 == "]" }
    }

    /// Whether a scheme may be an app's own: a reversed domain name, which has a dot.
    private static func isPrivate(_ scheme: Substring) -> Bool {
        guard let first = scheme.first, first.isASCIILetter, scheme.contains(".") else { return false }
        return scheme.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".contains($0) }
    }

    /// Whether a scheme without a dot may be an app's: none that browsers or systems know.
    private static func isShort(_ scheme: Substring) -> Bool {
        scheme.count >= 3 && scheme.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
            && scheme.first?.isASCIILetter == true
            && ![
                "javascript", "data", "file", "blob", "about", "vbscript", "ftp", "intent", "content", "chrome",
                "resource",
            ]
            .contains(String(scheme))
    }

    /// What RFC 3986 allows in a URI; a backslash, which browsers read as a slash, isn't among it.
    private static func isURIByte(_ byte: UInt8) -> Bool {
        0x21...0x7E ~= byte && !#""<>\^`{|}"#.utf8.contains(byte)
    }
}

extension Character {
    fileprivate var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
