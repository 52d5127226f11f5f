/// The URI of a request without query and fragment, in the one spelling of RFC 3986 sections 6.2.2 and 6.2.3 (RFC 9449 section 4.3):
/// scheme and host in lower case, no port that is the default, `%` only where it is needed and with upper-case digits, no dot segments,
/// and `/` for no path.
///
/// Only `http` and `https`. What RFC 3986 doesn't allow has no value here, nor have user names and hosts with `%`.
public struct TargetURI: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a URI or a path in bytes, as it is read.
    public static let bytesMax = 2048

    /// Scheme, host and port.
    private let origin: String
    private let path: String

    /// Reads a URI. A query and a fragment are left out unread. Nil if it isn't one.
    public init?(_ text: String) {
        guard let bytes = Self.withoutQuery(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let rest = bytes[(colon + 1)...]
        guard let defaultPort = Self.defaultPorts[scheme], rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
        guard let host = TargetAuthority(authority, defaultPort: defaultPort),
            let path = TargetPath.normalized(bytes[authority.endIndex...])
        else { return nil }
        origin = "\(scheme)://\(host.name)" + (host.port == defaultPort ? "" : ":\(host.port)")
        self.path = path
    }

    private init(origin: String, path: String) {
        self.origin = origin
        self.path = path
    }

    /// The URI of a request that came to this one, the public address of the server.
    ///
    /// Scheme and host are the configured ones, not those of the request: a client could choose them, and behind a proxy they are of
    /// another address than the client used. A path of the public address is put before that of the request.
    ///
    /// - Parameter requestTarget: the path as it was received, with or without a query.
    /// - Returns: nil if it is no path that begins with `/`.
    public func appending(_ requestTarget: String) -> TargetURI? {
        guard let bytes = Self.withoutQuery(requestTarget), bytes.first == UInt8(ascii: "/"),
            let added = TargetPath.normalized(bytes)
        else { return nil }
        return TargetURI(origin: origin, path: (path.hasSuffix("/") ? String(path.dropLast()) : path) + added)
    }

    /// The URI in its one spelling.
    public var description: String { origin + path }

    private static let defaultPorts: [String: UInt16] = ["https": 443, "http": 80]

    /// The bytes before a query and a fragment; nil if the text is too long.
    private static func withoutQuery(_ text: String) -> ArraySlice<UInt8>? {
        guard text.utf8.count <= bytesMax else { return nil }
        return Array(text.utf8).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    }
}
