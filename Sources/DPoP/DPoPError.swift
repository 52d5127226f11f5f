/// Why a proof was rejected. Each case is one check of RFC 9449 section 4.3, or of the form that comes before them. No case has a
/// value out of the proof, so a log may hold them all.
public enum DPoPError: Error, Sendable, Hashable, CaseIterable {
    /// The text is longer than ``DPoPVerifier/proofBytesMax``.
    case tooLarge
    /// The text is not three base64url parts with JSON objects as header and claims, a member appears twice, or a required one is
    /// missing, too long or of another type.
    case malformed
    /// `typ` is not `dpop+jwt`.
    case wrongType
    /// `alg` is none of ``DPoPAlgorithm``: so `none` and the symmetric ones end here.
    case unsupportedAlgorithm
    /// `crit` names extensions, of which none is supported (RFC 7515 section 4.1.11).
    case criticalExtension
    /// `jwk` has a private member, or is a symmetric key.
    case privateKey
    /// `jwk` is no public key of the algorithm, or the header names another source of a key.
    case badKey
    /// The signature is not the key's over this header and these claims.
    case badSignature
    /// `htm` is not the request's method.
    case wrongMethod
    /// `htu` is not the request's URI.
    case wrongTarget
    /// There is no `nonce`, and one is required.
    case missingNonce
    /// `nonce` is too old, or another process made it.
    case badNonce
    /// `iat` is too long ago, or `exp` has passed.
    case tooOld
    /// `iat` or `nbf` is in the future.
    case fromFuture
    /// `ath` is not there, or is of another access token than the request has.
    case wrongAccessToken
    /// The key is not the one that the access token or the session is bound to.
    case wrongKey

    /// The `error` of a response (RFC 9449 sections 5, 7.1 and 8).
    public enum Code: String, Sendable, Hashable {
        /// The client may try again at once, with the nonce of the response's `DPoP-Nonce`.
        case useNonce = "use_dpop_nonce"
        /// The proof is wrong.
        case invalidProof = "invalid_dpop_proof"
    }

    /// The `error` of the response. For ``wrongKey`` with an access token, `invalid_token` is as good (RFC 9449 section 7.1).
    public var code: Code {
        switch self {
        case .missingNonce, .badNonce: .useNonce
        case .tooLarge, .malformed, .wrongType, .unsupportedAlgorithm, .criticalExtension, .privateKey, .badKey,
            .badSignature, .wrongMethod, .wrongTarget, .tooOld, .fromFuture, .wrongAccessToken, .wrongKey:
            .invalidProof
        }
    }
}
