import JOSE
import RPC
import ServiceKit

/// A secret shared with a target, by which it verifies that a message is ours: `whsec_` and the base64 of 24 to 64 bytes, as in
/// Standard Webhooks. It is never printed.
struct WebhookSecret: Sendable {
    static let prefix = "whsec_"
    static let byteCounts = 24...64
    /// The maximum of bytes of its text, including the line end.
    static let textBytesMax = 128

    private let key: Secret

    /// A secret from its text; nil if it is malformed.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= Self.textBytesMax,
            let bytes = Base64.decode(text.utf8.dropFirst(Self.prefix.utf8.count)),
            Self.byteCounts.contains(bytes.count)
        else { return nil }
        key = Secret(bytes)
    }

    /// The signature of a message: `v1,` and the base64 of an HMAC-SHA256 of its id, its time in Unix seconds and its body, with
    /// dots between.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let code = SHA256.authenticationCode(of: Array("\(id).\(timestamp).".utf8) + body, key: key.bytes)
        return "v1," + String(decoding: Base64.encode(code, padded: true), as: UTF8.self)
    }
}
