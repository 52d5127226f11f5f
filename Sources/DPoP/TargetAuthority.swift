/// Host and port of a URI (RFC 3986 section 3.2).
struct TargetAuthority {
    /// The maximum length of a host in bytes (RFC 1035 section 2.3.4).
    static let hostBytesMax = 253

    /// The host in lower case, an IPv6 address in its brackets.
    let name: String
    /// The port, the scheme's default if none is written.
    let port: UInt16

    /// Nil for a user name, for a host with other characters than a domain or an address has, and for a port that is no number from 1 to
    /// 65535 without a zero in front.
    init?(_ bytes: ArraySlice<UInt8>, defaultPort: UInt16) {
        let host: ArraySlice<UInt8>
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = bytes[...end]
            guard host.count > 2, host.dropFirst().dropLast().allSatisfy(Self.isOfAddress) else { return nil }
        } else {
            host = bytes.prefix { $0 != UInt8(ascii: ":") }
            guard !host.isEmpty, host.allSatisfy(Self.isOfDomain) else { return nil }
        }
        guard host.count <= Self.hostBytesMax else { return nil }
        name = String(decoding: host, as: UTF8.self).lowercased()
        guard let port = Self.port(bytes[host.endIndex...], defaultPort) else { return nil }
        self.port = port
    }

    private static func port(_ bytes: ArraySlice<UInt8>, _ defaultPort: UInt16) -> UInt16? {
        guard let colon = bytes.first else { return defaultPort }
        guard colon == UInt8(ascii: ":") else { return nil }
        let digits = bytes.dropFirst()
        // Section 6.2.3: a colon without a port means the default too.
        guard let first = digits.first else { return defaultPort }
        guard first != UInt8(ascii: "0"), digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }

    private static func isOfDomain(_ byte: UInt8) -> Bool { TargetPath.isUnreserved(byte) }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
