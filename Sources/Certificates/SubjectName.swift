/// A subject alternative name of a certificate (RFC 5280 section 4.2.1.6).
public enum SubjectName: Sendable, Hashable {
    /// A host name, which clients compare with the server's.
    case dns(String)
    /// An identity, such as `spiffe://vestibule/gateway`, which allow lists contain.
    case uri(String)

    /// The name in the text format of libcrypto's extensions, in which commas and colons separate names.
    var extensionText: String {
        get throws(CertificateError) {
            switch self {
            case .dns(let name): "DNS:" + (try Self.checked(name, also: ".-"))
            case .uri(let name): "URI:" + (try Self.checked(name, also: ".-_/:"))
            }
        }
    }

    private static func checked(_ name: String, also others: String) throws(CertificateError) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || others.unicodeScalars.contains(scalar)
        }
        guard isPlain, (1...253).contains(name.utf8.count) else { throw .invalidName(name) }
        return name
    }
}

/// The validity of a certificate, in seconds since 1970.
public struct Validity: Sendable, Hashable {
    /// The first second.
    public var from: Int
    /// The last second.
    public var until: Int

    /// A validity that begins an hour before now, since clocks differ, and ends `days` after now.
    public init(now: Int, days: Int) {
        from = now - 3600
        until = now + days * 86_400
    }
}
