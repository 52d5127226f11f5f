import HTTPJSON

/// Scheme, host and port by which browsers reach pages that set cookies.
public struct PageOrigin: Sendable, Hashable {
    /// The origin, as browsers write it.
    public let text: String

    /// Whether browsers come by http, which only the machine that they run on may.
    public var isClear: Bool { text.hasPrefix("http://") }
    /// Whether its host is this machine, by name or by a loopback address.
    public var isOfThisMachine: Bool {
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "[::1]"
    }
    /// What `Host` of requests says.
    public var authority: Substring { text.drop { $0 != ":" }.dropFirst("://".count) }

    /// The origin of a text; nil for http of another machine, whose cookies anybody on the way could read.
    public init?(_ text: String) {
        guard CrossOrigin.isOrigin(text) else { return nil }
        let host = text.drop { $0 != ":" }.dropFirst("://".count)
        let isLoopback = ["127.0.0.1", "localhost", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
        guard text.hasPrefix("https://") || text.hasPrefix("http://") && isLoopback else { return nil }
        self.text = text
    }
}
