/// A host name or address, and a TCP port.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// The port; 0 where the system may choose one.
    public var port: Int

    /// A host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port` or `[IPv6]:port`; nil if the text is neither.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
            guard host.utf8.allSatisfy({ Self.isAddressByte($0) || $0 == UInt8(ascii: ":") }) else { return nil }
        } else {
            guard host.utf8.allSatisfy(Self.isAddressByte) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        self.init(host: String(host), port: port)
    }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine reaches the address: 127.0.0.0/8, `::1` (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3)
    /// or `localhost`. Any other name may stand for any address.
    public var isLoopback: Bool {
        if host == "::1" || host.lowercased() == "localhost" { return true }
        let mapped = host.lowercased().hasPrefix("::ffff:") ? host.dropFirst(7) : host[...]
        let numbers = mapped.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in UInt8(number) != nil && number.first != "+" }
    }

    /// Letters, digits, dot, hyphen, underscore (container names have them) and the percent of an IPv6 zone.
    private static func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
