import ServiceKit

/// The proxies that are ours, and so whose word for a client's address counts.
struct TrustedProxies: Sendable {
    /// The maximum of X-Forwarded-For entries that are read: no request comes through as many proxies of ours.
    static let hopsMax = 16

    let networks: [IPNetwork]

    /// The client of a request that came from `peer`.
    ///
    /// Each proxy appends to X-Forwarded-For the address that it was called from, so the header is read from its right
    /// end, and only as long as the one whose word it is is ours: what stands further left could be anyone's words. An
    /// entry may have a port (`192.0.2.1:4711`, `[2001:db8::1]:4711`); one that is no address ends the walk.
    ///
    /// - Parameter forwarded: X-Forwarded-For; several fields joined with commas.
    func client(peer: IPAddress?, forwarded: String?) -> ClientAddress {
        guard var address = peer else { return .none }
        guard let forwarded, isTrusted(address) else { return ClientAddress(address) }
        var rest = Substring(forwarded)
        for _ in 0..<Self.hopsMax {
            let comma = rest.utf8.lastIndex(of: UInt8(ascii: ","))
            let entry = comma.map { rest[rest.index(after: $0)...] } ?? rest
            guard let hop = Self.address(of: entry) else { break }
            address = hop
            guard let comma, isTrusted(hop) else { break }
            rest = rest[..<comma]
        }
        return ClientAddress(address)
    }

    /// Whether an address is one of our proxies'.
    func isTrusted(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The address of an entry, without its port and brackets.
    private static func address(of entry: Substring) -> IPAddress? {
        var text = entry
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        if text.utf8.first == UInt8(ascii: "[") {
            guard let close = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let port = text[text.index(after: close)...]
            return port.isEmpty || isPort(port) ? IPAddress(text[text.index(after: text.startIndex)..<close]) : nil
        }
        // One colon stands before a port; more are an IPv6 address without brackets.
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        guard colons == 1, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return IPAddress(text) }
        return isPort(text[colon...]) ? IPAddress(text[..<colon]) : nil
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.first == UInt8(ascii: ":") && 2...6 ~= text.utf8.count
            && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }
}
