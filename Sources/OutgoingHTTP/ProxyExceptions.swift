import Glibc

/// The hosts in NO_PROXY: `*` for all, or a list of names, which include their subdomains, addresses, and networks (`10.0.0.0/8`),
/// each with or without a port.
public struct ProxyExceptions: Sendable, Hashable {
    /// The maximum of entries; more are ignored.
    static let entriesMax = 256

    private enum Place: Sendable, Hashable {
        case all
        case name(String)
        case network([UInt8], bits: Int)
    }
    private struct Entry: Sendable, Hashable {
        let place: Place
        let port: Int?
    }
    private let entries: [Entry]

    /// Parses the variable, separated by commas or spaces; invalid entries are ignored, as is usual.
    public init(_ text: String) {
        let words = text.lowercased().split { $0 == "," || $0 == " " }
        entries = words.prefix(Self.entriesMax).compactMap { Self.entry($0) }
    }

    private static func entry(_ word: Substring) -> Entry? {
        if word == "*" { return Entry(place: .all, port: nil) }
        if let network = network(word) { return Entry(place: network, port: nil) }
        var (name, port) = (word, Int?.none)
        if let colon = word.lastIndex(of: ":") {
            guard let number = UInt16(word[word.index(after: colon)...]) else { return nil }
            (name, port) = (word[..<colon], Int(number))
            if let network = network(name) { return Entry(place: network, port: port) }
        }
        if name.hasPrefix("*.") { name = name.dropFirst() }
        if name.hasPrefix(".") { name = name.dropFirst() }
        return name.isEmpty ? nil : Entry(place: .name(String(name)), port: port)
    }

    /// An address, or a network: an address with the length of its prefix.
    private static func network(_ word: Substring) -> Place? {
        let parts = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard var text = parts.first else { return nil }
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard let address = addressBytes(String(text)) else { return nil }
        guard parts.count == 2 else { return .network(address, bits: address.count * 8) }
        guard let bits = Int(parts[1]), 0...address.count * 8 ~= bits else { return nil }
        return .network(address, bits: bits)
    }

    /// Whether a URL's host is connected to without a proxy.
    func contain(_ url: RequestURL) -> Bool {
        entries.contains { entry in
            guard entry.port == nil || entry.port == url.port else { return false }
            switch entry.place {
            case .all: return true
            case .name(let name): return url.host.text == name || url.host.text.hasSuffix("." + name)
            case .network(let address, let bits):
                guard let host = url.host.address, host.count == address.count else { return false }
                return Self.sharesPrefix(host, address, bits: bits)
            }
        }
    }

    private static func sharesPrefix(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
        guard left.prefix(bits / 8) == right.prefix(bits / 8) else { return false }
        let rest = bits % 8
        return rest == 0 || (left[bits / 8] ^ right[bits / 8]) >> UInt8(8 - rest) == 0
    }
}

/// The bytes of a numeric address, 4 or 16; nil if the text isn't one.
func addressBytes(_ text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
}
