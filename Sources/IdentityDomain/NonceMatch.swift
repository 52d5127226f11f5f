import JOSE

/// How a token's `nonce` claim relates to the raw nonce that the app hands us.
///
/// With `raw` and `either` a thief of a token reads the nonce in it and can present both. What keeps a stolen token from signing in is
/// then only that it opens one session, so one that its owner has not used yet is good for a thief until
/// it expires. With `sha256` the token alone is worth nothing.
public enum NonceMatch: String, Sendable, Hashable, CaseIterable {
    /// The claim is the lowercase hex SHA-256 of the raw nonce: what apps do with Apple. A thief of the
    /// token can't know the raw nonce.
    case sha256 = "sha256"
    /// The claim is the raw nonce (OpenID Connect Core section 3.1.3.7). Ties the token to the app's request, and proves
    /// nothing against its theft.
    case raw = "raw"
    /// Either: apps hand Google the raw nonce or its hash, depending on the platform's library. As strong as `raw`, for
    /// apps that hash as well: who has their token can say that its claim is the raw nonce.
    case either = "either"

    /// Whether the claim is what this makes of the raw nonce.
    public func matches(claim: String, rawNonce: String) -> Bool {
        switch self {
        case .sha256: Self.isHash(claim, of: rawNonce)
        case .raw: ConstantTime.areEqual(claim, rawNonce)
        case .either: ConstantTime.areEqual(claim, rawNonce) || Self.isHash(claim, of: rawNonce)
        }
    }

    private static func isHash(_ claim: String, of rawNonce: String) -> Bool {
        ConstantTime.areEqual(claim, Hex.encode(SHA256.hash(rawNonce)))
    }
}
