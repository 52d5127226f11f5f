import Foundation

/// The URL of a server: pure decisions.
package enum ServerURL {
    private static let defaultPorts = ["https": ":443", "http": ":80"]
    private static let localHosts: Set<String> = ["localhost", "::1", "[::1]", "10.0.2.2"]

    /// The text of a URL, which is the same for all ways to write it: scheme and host in lower case, without a port that is the scheme's,
    /// a slash at the end, a query and a fragment.
    package static func base(_ url: URL) -> String {
        let text = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
        guard let start = text.range(of: "://")?.upperBound else { return String(text) }
        let end = text[start...].firstIndex(of: "/") ?? text.endIndex
        var origin = text[..<end].lowercased()
        if let port = defaultPorts[url.scheme?.lowercased() ?? ""], origin.hasSuffix(port) {
            origin.removeLast(port.count)
        }
        var path = text[end...]
        while path.last == "/" { path.removeLast() }
        return origin + path
    }

    /// Whether tokens may go there: by https, or by http to this machine. `10.0.2.2` is the machine around Android's emulator.
    package static func isAllowed(_ url: URL) -> Bool {
        guard let host = url.host()?.lowercased(), !host.isEmpty else { return false }
        switch url.scheme?.lowercased() {
        case "https": return true
        case "http": return localHosts.contains(host) || isLoopback(host)
        default: return false
        }
    }

    /// 127.0.0.0/8.
    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The key of the server's record in the store, which is good for a file's name however long the URL is.
    package static func key(_ url: URL) -> String {
        "vestibule-" + SHA256Digest.of(Array(base(url).utf8)).prefix(16).hexadecimal
    }
}

extension Sequence<UInt8> {
    /// In lower case.
    var hexadecimal: String { map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() }
}
