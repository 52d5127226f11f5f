import Bytes
import JOSE

/// Verifies DPoP proofs (RFC 9449 section 4.3): that the client of a request holds a key.
///
/// Two of the section's checks are the caller's: that there is one `DPoP` header (1), and that the proof is new, by ``SeenProofs``.
///
/// **Time.** A proof with a good nonce was made after the nonce was, so the nonce alone says when, and `iat` is not compared: the clock of
/// a client may be wrong. A proof without one, where none is required, goes by its `iat`. A nonce that isn't good is never ignored.
///
/// Immutable; threads may use it concurrently.
public struct DPoPVerifier: Sendable {
    /// The maximum length of a proof in bytes. One with a P-256 key and an `htu` of 200 bytes has some 900.
    public static let proofBytesMax = 4096
    /// For how long after its `iat` a proof without a nonce is accepted, in seconds.
    public static let proofSecondsMax: Int64 = 60
    /// How far an `iat` may be in the future, in seconds: for clocks that differ.
    public static let clockSkewSecondsMax: Int64 = 10

    /// What is known of the request that a proof came with.
    public struct Request: Sendable {
        /// The method, as it was received.
        public var method: String
        /// The URI: ``TargetURI/appending(_:)`` of the public address. With nil no proof matches.
        public var target: TargetURI?
        /// The access token that the request presents; the proof must then have its hash.
        public var accessToken: String?
        /// The thumbprint of the key that the access token or the session is bound to; the proof must then have that key.
        public var thumbprint: JWKThumbprint?

        /// A request.
        public init(
            method: String,
            target: TargetURI?,
            accessToken: String? = nil,
            thumbprint: JWKThumbprint? = nil
        ) {
            self.method = method
            self.target = target
            self.accessToken = accessToken
            self.thumbprint = thumbprint
        }
    }

    private let nonces: DPoPNonces
    private let requiresNonce: Bool

    /// - Parameters:
    ///   - nonces: the process's.
    ///   - requiresNonce: whether a proof without a nonce is rejected. If not, such a proof can be used once at each replica, and once
    ///     more if the clock of ``DPoPInstant/unixSeconds`` is set back.
    public init(nonces: DPoPNonces, requiresNonce: Bool) {
        self.nonces = nonces
        self.requiresNonce = requiresNonce
    }

    /// Verifies the value of a request's `DPoP` header. The cheap checks come first, the signature last.
    ///
    /// - Throws: ``DPoPError``, which names the first check that failed.
    public func verify(_ text: String, of request: Request, now: DPoPInstant) throws(DPoPError) -> DPoPProof {
        let proof = try UnverifiedProof(parsing: text)
        let claims = proof.claims
        // Methods are case-sensitive (RFC 9110 section 9.1).
        guard claims.method.utf8.elementsEqual(request.method.utf8) else { throw .wrongMethod }
        guard let target = request.target, TargetURI(claims.target) == target else { throw .wrongTarget }
        try checkTime(claims, now)
        if let token = request.accessToken {
            guard let hash = claims.accessTokenHash,
                ConstantTime.areEqual(hash, Base64URL.encode(SHA256.hash(token)))
            else { throw .wrongAccessToken }
        }
        let key = try proof.key()
        let thumbprint = key.thumbprint
        if let expected = request.thumbprint {
            guard ConstantTime.areEqual(thumbprint.bytes, expected.bytes) else { throw .wrongKey }
        }
        guard proof.isSigned(by: key) else { throw .badSignature }
        return DPoPProof(thumbprint: thumbprint, identifier: claims.identifier, hasNonce: claims.nonce != nil)
    }

    private func checkTime(_ claims: ProofClaims, _ now: DPoPInstant) throws(DPoPError) {
        let nowSeconds = now.unixSeconds
        if let nonce = claims.nonce {
            guard nonces.check(nonce, monotonicSeconds: now.monotonicSeconds) == .good else { throw .badNonce }
        } else {
            guard !requiresNonce else { throw .missingNonce }
            guard Self.seconds(from: claims.issuedAtSeconds, to: nowSeconds) <= Self.proofSecondsMax else {
                throw .tooOld
            }
            guard Self.seconds(from: nowSeconds, to: claims.issuedAtSeconds) <= Self.clockSkewSecondsMax else {
                throw .fromFuture
            }
        }
        if let end = claims.expirationSeconds, end <= nowSeconds { throw .tooOld }
        if let start = claims.notBeforeSeconds,
            Self.seconds(from: nowSeconds, to: start) > Self.clockSkewSecondsMax
        {
            throw .fromFuture
        }
    }

    /// The seconds between two times, negative if the second comes first; the nearest number if 64 bits can't hold them.
    private static func seconds(from first: Int64, to second: Int64) -> Int64 {
        (Checked(second) - first).value ?? (first < second ? .max : .min)
    }
}
