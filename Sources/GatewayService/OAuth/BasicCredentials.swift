import HTTPJSON
import JOSE

/// The id and the secret of a client by HTTP Basic (RFC 7617).
struct BasicCredentials: Sendable {
    /// The longest field that is looked at, in bytes.
    static let fieldBytesMax = 1024

    let id: String
    let secret: String

    /// The credentials of an Authorization field: each form-encoded (RFC 6749 section 2.3.1), a colon between, all in base64. Nil for
    /// anything else.
    init?(_ field: String?) {
        guard let field, field.utf8.count <= Self.fieldBytesMax else { return nil }
        let parts = field.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
        var text = parts[1].replacing("+", with: "-").replacing("/", with: "_")
        while text.hasSuffix("=") { text.removeLast() }
        guard let bytes = Base64URL.decode(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let id = Self.decoded(bytes[..<colon]), let secret = Self.decoded(bytes[(colon + 1)...])
        else { return nil }
        self.id = id
        self.secret = secret
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        // As the value of a form's field, which no `&` may end.
        guard !bytes.contains(UInt8(ascii: "&")) else { return nil }
        return try? FormFields(parsing: Array("v=".utf8) + bytes)["v"]
    }
}
