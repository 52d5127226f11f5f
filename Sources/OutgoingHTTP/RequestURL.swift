import CCurl

/// A valid URL, parsed by libcurl itself, so that we look up the same host that it connects to.
struct RequestURL {
    /// The maximum length of a URL in bytes.
    static let bytesMax = 16_384

    /// A host: a name, or a numeric address.
    struct Host: Sendable, Hashable {
        /// In lower case, without brackets.
        let text: String
        /// The address, 4 or 16 bytes; nil for a name.
        let address: [UInt8]?

        /// The host in the syntax of a URL.
        var inURL: String { address?.count == 16 ? "[\(text)]" : text }

        /// Whether it is this machine: 127.0.0.0/8, ::1 or localhost (RFC 6761 section 6.3).
        var isLoopback: Bool {
            guard let address else { return text == "localhost" || text.hasSuffix(".localhost") }
            return address.count == 4 ? address[0] == 127 : address == [UInt8](repeating: 0, count: 15) + [1]
        }
    }

    /// `http` or `https`.
    let scheme: String
    let host: Host
    let port: Int
    let user: String?
    let password: String?

    /// Nil unless the text is an `http` or `https` URL with a host, in visible ASCII.
    ///
    /// - Parameter takesUser: whether it may have a user and a password.
    init?(_ text: String, takesUser: Bool = false) {
        guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), let url = curl_url() else {
            return nil
        }
        defer { curl_url_cleanup(url) }
        let flags = takesUser ? 0 : UInt32(CURLU_DISALLOW_USER)
        guard curl_url_set(url, CURLUPART_URL, text, flags) == CURLUE_OK,
            let scheme = Self.part(url, CURLUPART_SCHEME), scheme == "https" || scheme == "http",
            let host = Self.part(url, CURLUPART_HOST).flatMap(Self.host),
            let port = Self.part(url, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap(UInt16.init)
        else { return nil }
        (self.scheme, self.host, self.port) = (scheme, host, Int(port))
        user = Self.part(url, CURLUPART_USER, UInt32(CURLU_URLDECODE))
        password = Self.part(url, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
    }

    private static func part(_ url: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// The maximum length of a host's name in bytes (RFC 1035 section 2.3.4).
    private static let hostBytesMax = 253

    private static func host(_ text: String) -> Host? {
        let text = text.lowercased()
        if text.hasPrefix("["), text.hasSuffix("]") {
            let inside = String(text.dropFirst().dropLast())
            return addressBytes(inside).map { Host(text: inside, address: $0) }
        }
        if let address = addressBytes(text) { return Host(text: text, address: address) }
        // No characters that could end the host's name in CURLOPT_RESOLVE.
        let isName = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isName && 1...hostBytesMax ~= text.utf8.count ? Host(text: text, address: nil) : nil
    }
}
