import Bytes
import JOSE

/// A proof that ``DPoPVerifier`` has verified. There is no other way to one: so ``SeenProofs`` keeps verified proofs only.
public struct DPoPProof: Sendable, Hashable {
    /// The thumbprint of the key that made the proof.
    public let thumbprint: JWKThumbprint
    /// The fingerprint of its `jti` under that key.
    public let fingerprint: ProofFingerprint
    /// Whether a nonce says when the proof was made. If not, its `iat` does, and another replica of the gateway accepts it too.
    public let hasNonce: Bool

    init(thumbprint: JWKThumbprint, identifier: String, hasNonce: Bool) {
        self.thumbprint = thumbprint
        fingerprint = ProofFingerprint(thumbprint, identifier: identifier)
        self.hasNonce = hasNonce
    }
}

/// 16 bytes that stand for a proof: the start of SHA-256 over its key's thumbprint and its `jti`.
///
/// A client can't choose the thumbprint of another one's key, so it can't make a fingerprint that another's proof will have. Two of its
/// own with the same fingerprint would cost 2^64 hashes, and have its own second proof refused.
public struct ProofFingerprint: Sendable, Hashable {
    /// The length in bytes.
    public static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// - Parameter identifier: the `jti`. Only the length of the thumbprint before it is fixed, which is enough.
    init(_ thumbprint: JWKThumbprint, identifier: String) {
        var reader = ByteReader(SHA256.hash(thumbprint.bytes + Array(identifier.utf8))[...], truncated: TooShort())
        // A digest has 32 bytes: the reads of 16 never throw.
        high = (try? reader.integer(UInt64.self)) ?? 0
        low = (try? reader.integer(UInt64.self)) ?? 0
    }

    /// The bytes, for tests.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(integer: high)
        bytes.append(integer: low)
        return bytes
    }

    private struct TooShort: Error {}
}
