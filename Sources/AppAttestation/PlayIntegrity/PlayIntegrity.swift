import JOSE

/// Google's Play Integrity API, the server's half (developer.android.com/google/play/integrity): tokens that say whether a call comes from
/// an app as Google Play distributes it, on a genuine device. Tokens are decrypted and verified here with the keys that the Play Console
/// shows, without a call to Google.
///
/// Immutable; threads may use it concurrently.
public struct PlayIntegrity: Sendable {
    /// The maximum length of a token in bytes. Google's have some 1 to 3 KiB.
    public static let tokenBytesMax = 16 * 1024
    /// The maximum time by which Google's clock may be ahead, in milliseconds.
    public static let clockSkewMillisecondsMax: Int64 = 60_000

    /// What is accepted.
    public let policy: PlayIntegrityPolicy

    private let decryptionKey: [UInt8]
    private let verificationKey: VerificationKey

    /// The check for one app.
    ///
    /// - Parameters:
    ///   - decryptionKey: the key of 32 bytes for responses, decoded from the console's base64.
    ///   - verificationKey: the key on P-256 for responses.
    public init(
        decryptionKey: [UInt8],
        verificationKey: VerificationKey,
        policy: PlayIntegrityPolicy
    ) throws(PlayIntegrityConfigurationError) {
        guard decryptionKey.count == CompactJWE.keyByteCount else { throw .invalidDecryptionKey }
        guard verificationKey.type == .p256 else { throw .invalidVerificationKey }
        self.decryptionKey = decryptionKey
        self.verificationKey = verificationKey
        self.policy = policy
    }

    /// The check for one app, with both keys in base64 as the Play Console shows them: 32 bytes, and a SubjectPublicKeyInfo.
    public init(
        decryptionKeyBase64: String,
        verificationKeyBase64: String,
        policy: PlayIntegrityPolicy
    ) throws(PlayIntegrityConfigurationError) {
        guard let decryptionKey = StandardBase64.decode(decryptionKeyBase64) else { throw .invalidDecryptionKey }
        guard let der = StandardBase64.decode(verificationKeyBase64),
            let verificationKey = try? VerificationKey(publicKeyInfo: der)
        else { throw .invalidVerificationKey }
        try self.init(decryptionKey: decryptionKey, verificationKey: verificationKey, policy: policy)
    }

    /// Decrypts a token, verifies its signature, and compares what it says with the request and the policy.
    ///
    /// The rest is the caller's: that the nonce or the hash was made for this request and is used once.
    ///
    /// - Parameters:
    ///   - request: what the app passed to Google for this request.
    ///   - nowMilliseconds: since 1970.
    /// - Throws: the ``PlayIntegrityError`` of the first step that fails.
    public func verify(
        _ token: String,
        request: PlayIntegrityRequest,
        nowMilliseconds: Int64
    ) throws(PlayIntegrityError) -> PlayIntegrityVerdict {
        let payload = try PlayIntegrityPayload(parsing: try verifiedPayload(token))
        let versionCode = try policy.check(payload, request: request, nowMilliseconds: nowMilliseconds)
        return PlayIntegrityVerdict(
            requestMilliseconds: payload.requestMilliseconds,
            versionCode: versionCode,
            deviceLabels: payload.deviceLabels,
            licensing: payload.licensing
        )
    }

    /// The JSON text inside: a JWE around a JWS.
    private func verifiedPayload(_ token: String) throws(PlayIntegrityError) -> [UInt8] {
        let signed: [UInt8]
        do {
            signed = try CompactJWE(parsing: token, bytesMax: Self.tokenBytesMax).plaintext(with: decryptionKey)
        } catch {
            throw .encryption(error)
        }
        // Text of other bytes than ASCII is no JWS: it then has other characters than base64url's.
        let text = String(decoding: signed, as: UTF8.self)
        do throws(JWSError) {
            let jws = try CompactJWS(parsing: text, bytesMax: Self.tokenBytesMax)
            guard jws.algorithm == .es256 else { throw .unsupportedAlgorithm }
            return try jws.verifiedPayload(with: verificationKey)
        } catch {
            throw .signature(error)
        }
    }
}
