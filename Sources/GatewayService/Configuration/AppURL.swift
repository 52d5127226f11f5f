import HTTPJSON

/// A URL by which a browser hands over to an app: of a scheme of the app's own, or an `https` link that the app has claimed.
struct AppURL: Sendable, Hashable {
    /// The longest URL with its query, in bytes: it travels in a cookie.
    static let bytesMax = 512

    /// The URL without a query.
    let base: String
    /// The query that the app asked for, without `?`; nil if there is none.
    let query: String?

    /// The URL of a text; nil for what can be none, such as one that a browser would run or open as a document of its own.
    init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let question = text.firstIndex(of: "?")
        base = String(text[..<(question ?? text.endIndex)])
        query = question.map { String(text[text.index(after: $0)...]) }
        guard Self.isAcceptableBase(base), query.map(Self.isAcceptableQuery) ?? true else { return nil }
    }

    /// The whole URL.
    var text: String { query.map { "\(base)?\($0)" } ?? base }

    /// The URL with more in its query.
    func adding(_ parameters: [(name: String, value: String)]) -> String {
        let added = parameters.map { "\($0.name)=\(FormFields.encode($0.value))" }.joined(separator: "&")
        guard let query, !query.isEmpty else { return "\(base)?\(added)" }
        return "\(base)?\(query)&\(added)"
    }

    /// Names that we put in the query ourselves, and others that apps look for there. An app that gets one twice, or from the
    /// author of the link to the start, might believe the wrong value.
    private static let ours: Set<String> = [
        "id_token", "code", "error", "error_description", "state", "email", "name", "user",
    ]
    /// Schemes that are no app's.
    private static let refusedSchemes: Set<Substring> = [
        "about", "blob", "content", "data", "file", "filesystem", "ftp", "intent", "javascript", "vbscript",
        "view-source", "ws", "wss",
    ]

    /// Characters of URLs (RFC 3986), without the quotes, `#`, and what no URI has.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }
    private static let punctuation = Array("-._~:/?&=%+,;@".utf8)

    private static func isAcceptableBase(_ base: String) -> Bool {
        guard let colon = base.firstIndex(of: ":"), base[colon...].hasPrefix("://") else { return false }
        let scheme = base[..<colon]
        let isScheme =
            scheme.utf8.first.map { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 } ?? false
            && scheme.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                    UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        guard isScheme, !refusedSchemes.contains(scheme) else { return false }
        let rest = base[colon...].dropFirst("://".count)
        guard scheme == "http" || scheme == "https" else { return true }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.isEmpty, !authority.contains("@") else { return false }
        // Tickets in clear text are for the machine that the browser runs on.
        return scheme == "https" || ["localhost", "127.0.0.1"].contains(authority.prefix { $0 != ":" })
    }

    private static func isAcceptableQuery(_ query: String) -> Bool {
        guard !query.contains("?") else { return false }
        // Some readers take a semicolon for an ampersand.
        return [query, query.replacing(";", with: "&")].allSatisfy { query in
            guard let fields = try? FormFields(parsing: query.utf8) else { return false }
            return fields.fields.allSatisfy { isTheirs($0.name) }
        }
    }

    /// Whether a decoded name is none of ``ours`` to any reader: some compare without case, take `id.token` for `id_token`, drop spaces
    /// around a name, or decode it twice; of `code[]`, `[code]` and `id[token` each makes a name of its own. Letters beyond ASCII may
    /// fold into ours.
    private static func isTheirs(_ name: String) -> Bool {
        guard name.utf8.allSatisfy({ 0x20...0x7e ~= $0 && !"%[]".utf8.contains($0) }) else { return false }
        let bare = name.split(separator: " ").joined(separator: "_")
        return !ours.contains(bare.replacing(".", with: "_").lowercased())
    }
}
