import JOSE

extension OriginError {
    private static let secureScheme = "https://"
    private static let plainScheme = "http://"
    private static let appScheme = "android:apk-key-hash:"
    /// Bytes in the SHA-256 of an app's certificate.
    private static let keyHashByteCount = 32

    /// What is wrong with `origin`, or nil for one as clients write it: the serialization of an origin (HTML Standard), or the
    /// form in which Android's Credential Manager names an app.
    init?(_ origin: String) {
        if let error = Self.check(origin) { self = error } else { return nil }
    }

    private static func check(_ origin: String) -> OriginError? {
        if let hash = rest(of: origin, after: appScheme) {
            return Base64URL.decode(hash)?.count == keyHashByteCount ? nil : .invalidKeyHash
        }
        if let authority = rest(of: origin, after: secureScheme) { return check(authority, defaultPort: "443") }
        guard let authority = rest(of: origin, after: plainScheme) else { return .unknownScheme }
        if let error = check(authority, defaultPort: "80") { return error }
        return Domain.isLocalhost(authority.prefix { $0 != ":" }) ? nil : .insecure
    }

    private static func check(_ authority: Substring, defaultPort: String) -> OriginError? {
        let marks: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        if let mark = authority.utf8.firstIndex(where: { marks.contains($0) }) {
            return authority.utf8[mark...].elementsEqual("/".utf8) ? .trailingSlash : .hasPath
        }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts[0].utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) { return .uppercaseHost }
        guard Domain.isValid(String(parts[0])) else { return .invalidHost }
        guard parts.count == 2 else { return nil }
        guard let port = UInt16(parts[1]), port > 0, "\(port)".utf8.elementsEqual(parts[1].utf8) else {
            return .invalidPort
        }
        return parts[1] == defaultPort ? .defaultPort : nil
    }

    /// What follows a prefix. Counted in bytes: a combining mark behind the prefix belongs to its last character.
    private static func rest(of text: String, after prefix: String) -> Substring? {
        text.utf8.starts(with: prefix.utf8) ? Substring(text.utf8.dropFirst(prefix.utf8.count)) : nil
    }
}
