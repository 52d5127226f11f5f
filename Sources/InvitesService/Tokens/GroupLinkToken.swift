import InvitesDomain
import JOSE
import Models

/// What whoever shows it joins a group by: the id of a link, and a secret of 128 bits that the table doesn't have.
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

    /// The token of a text; nil if it isn't one's.
    init?(_ text: String) {
        guard text.utf8.count == Self.characterCount, let bytes = Base64URL.decode(text),
            bytes.count == 16 + Self.secretByteCount, let linkID = GroupLinkID(bytes: bytes.prefix(16))
        else { return nil }
        self.linkID = linkID
        secret = Array(bytes.dropFirst(16))
    }

    /// The token as people hand it on: base64url (RFC 4648 section 5) without padding.
    var text: String { Base64URL.encode(linkID.bytes + secret) }

    /// What is stored of the secret: its SHA-256. It has as many bits as no one tries out, so that a hash without a salt will do.
    var secretHash: [UInt8] { SHA256.hash(secret) }

    /// Whether the secret is that of a stored hash, by a comparison whose duration tells nothing.
    func matches(_ hash: [UInt8]) -> Bool { ConstantTime.areEqual(secretHash, hash) }
}
