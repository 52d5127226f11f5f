/// A server's host and port.
struct ChannelTarget: Sendable, Hashable {
    let host: String
    let port: Int
    /// As `:authority` says it.
    let authority: String

    /// Reads `host:port` or `[IPv6 address]:port`. Throws `TransportError.argument`.
    init(_ text: String) throws {
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
        self.host = String(host)
        self.port = port
        authority = text
    }
}
