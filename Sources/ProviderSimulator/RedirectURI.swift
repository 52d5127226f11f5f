import HTTPJSON

/// The URIs that a browser may be redirected to: any https URL, http of this machine only, and for Google an app's own scheme,
/// which has a dot (RFC 8252 section 7.1). Without a fragment (RFC 6749 section 3.1.2).
enum RedirectURI {
    /// The longest URI, in bytes.
    static let lengthMax = 2048

    static func isAcceptable(_ text: String, provider: Provider) -> Bool {
        guard text.utf8.count <= lengthMax, text.utf8.allSatisfy(isURICharacter) else { return false }
        if let rest = text.dropping("https://") { return isAuthority(rest) }
        if let rest = text.dropping("http://") {
            let host = authority(rest)
            return ["localhost", "127.0.0.1", "[::1]"].contains { name in
                host == name || host.dropping("\(name):").map { !$0.isEmpty && $0.allSatisfy(\.isNumber) } ?? false
            }
        }
        guard provider == .google, let colon = text.firstIndex(of: ":") else { return false }
        let scheme = text[..<colon]
        return scheme.contains(".") && scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isLetter || $0.isNumber || ".-+".contains($0) }
    }

    /// The URI with these fields after `?` or `#`.
    static func adding(_ fields: [(name: String, value: String)], to uri: String, separator: Character) -> String {
        let text = fields.map { "\(FormFields.encode($0.name))=\(FormFields.encode($0.value))" }.joined(separator: "&")
        return uri + (separator == "?" && uri.contains("?") ? "&" : String(separator)) + text
    }

    private static func authority(_ rest: Substring) -> Substring { rest.prefix { $0 != "/" && $0 != "?" } }

    private static func isAuthority(_ rest: Substring) -> Bool {
        let authority = authority(rest)
        return !authority.isEmpty && !authority.hasPrefix(":") && !authority.contains("@")
    }

    private static func isURICharacter(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !Array("\"#<>\\^`{|}".utf8).contains(byte)
    }
}

extension StringProtocol {
    /// The text after a prefix; nil if it has another beginning.
    fileprivate func dropping(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? Substring(self).dropFirst(prefix.count) : nil
    }
}
