import InvitesDomain
import JOSE
import Models

/// The token by which a user joins a group: the id of a link, and a secret of 128 bits that the table doesn't have.
struct GroupLinkToken: Sendable {
    /// Bytes of the secret.
    static let secretByteCount = 16
    /// Characters of a token's text.
    static let characterCount = 43

    /// The link.
    let linkID: GroupLinkID
    private let secret: [UInt8]

    /// A token with a new secret.
    init(of linkID: GroupLinkID) {
        self.linkID = linkID
        secret = SecureRandom.bytes(Self.secretByteCount)
    }

    /// The token of a text; nil if the text isn't one.
    init?(_ text: String) {
        guard text.utf8.count == Self.characterCount, let bytes = Base64URL.decode(text),
            bytes.count == 16 + Self.secretByteCount, let linkID = GroupLinkID(bytes: bytes.prefix(16))
        else { return nil }
        self.linkID = linkID
        secret = Array(bytes.dropFirst(16))
    }

    /// The token as people share it: base64url (RFC 4648 section 5) without padding.
    var text: String { Base64URL.encode(linkID.bytes + secret) }

    /// The stored form of the secret: its SHA-256. The secret has too many bits to guess, so a hash without a salt is enough.
    var secretHash: [UInt8] { SHA256.hash(secret) }

    /// Returns whether the secret matches a stored hash, in constant time.
    func matches(_ hash: [UInt8]) -> Bool { ConstantTime.areEqual(secretHash, hash) }
}
