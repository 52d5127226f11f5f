import JOSE
import RPC
import ServiceKit

/// A secret that a target and we share, by which it knows that a message is ours: `whsec_` and the base64 of 24 to 64 bytes, as
/// Standard Webhooks has it. It is printed nowhere.
struct WebhookSecret: Sendable {
    static let prefix = "whsec_"
    static let byteCounts = 24...64
    /// The longest text of one, its line end included.
    static let textBytesMax = 128

    private let key: Secret

    /// A secret from its text; nil if it is none.
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
