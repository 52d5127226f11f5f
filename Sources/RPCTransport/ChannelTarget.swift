/// Where a channel's servers are: one or more hosts with ports.
struct ChannelTarget: Sendable, Hashable {
    /// Hosts in one target.
    static let partsMax = 64
    /// Addresses of all hosts together that a channel uses; more are left out.
    static let addressesMax = 64

    /// One host and port.
    struct Part: Sendable, Hashable {
        /// A name, or an address in digits without brackets.
        let host: String
        let port: Int
        /// As `:authority` says it.
        let authority: String
    }

    /// The hosts, in order.
    let parts: [Part]
    /// The target as it was given.
    let text: String

    /// Reads `host:port` or `[IPv6 address]:port`, or several of them with commas between. Throws
    /// `TransportError.argument`.
    init(_ text: String) throws {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard texts.count <= Self.partsMax else {
            throw TransportError.argument("a target with more than \(Self.partsMax) hosts")
        }
        parts = try texts.map { try Part($0.drop { $0 == " " }) }
        self.text = text
    }
}

extension ChannelTarget.Part {
    init(_ text: Substring) throws {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { throw TransportError.argument("\"\(text)\" is not host:port") }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw TransportError.argument("\"\(text)\": an IPv6 address stands in brackets")
        }
        guard !host.isEmpty else { throw TransportError.argument("\"\(text)\" has no host") }
        self.init(host: String(host), port: port, authority: String(text))
    }
}
