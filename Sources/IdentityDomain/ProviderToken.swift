import JOSE

/// A provider's ID token on its way from text to claims: parsed, then verified by a key, then judged.
///
/// The three steps are apart because the key may have to be fetched between the first and the second.
public struct ProviderToken: Sendable {
    /// The longest nonce and the longest authorization code that we look at, in bytes.
    public static let proofBytesMax = 2048

    private let jws: CompactJWS
    /// The `kid` to look the key up by.
    public let keyID: String
    /// The algorithm to look the key up by; one that the provider may use.
    public var algorithm: SignatureAlgorithm { jws.algorithm }
    /// SHA-256 over what is signed, the same for each copy of the token.
    public var fingerprint: [UInt8] { jws.fingerprint }

    /// Parses a token and checks its header against the policy.
    public init(parsing text: String, policy: ProviderPolicy) throws(TokenRejection) {
        do {
            jws = try CompactJWS(parsing: text)
        } catch {
            throw TokenRejection(error)
        }
        guard policy.algorithms.contains(jws.algorithm) else { throw .algorithm }
        // Tokens of other kinds that the same keys sign, such as security events, say so (RFC 8725 section 3.11).
        guard jws.type.map({ $0.lowercased() == "jwt" }) ?? true else { throw .malformed }
        // Without a `kid` we would have to guess: "never the first key".
        guard let keyID = jws.keyID, !keyID.isEmpty else { throw .keyUnknown }
        self.keyID = keyID
    }

    /// The claims, if `key` signed the token and the policy accepts them.
    ///
    /// - Parameters:
    ///   - nowSeconds: the time, in Unix seconds.
    ///   - nonce: the raw nonce that the app presents with the token; empty if it has none, nil if none is asked for
    ///     (``ProviderPolicy/judge(payload:algorithm:nowSeconds:nonce:code:)``).
    ///   - code: the authorization code that came with the token; empty if there is none.
    public func claims(
        verifiedWith key: VerificationKey,
        policy: ProviderPolicy,
        nowSeconds: Int64,
        nonce: String?,
        code: String
    ) throws(TokenRejection) -> ProviderClaims {
        let payload: [UInt8]
        do {
            payload = try jws.verifiedPayload(with: key)
        } catch {
            throw TokenRejection(error)
        }
        return try policy.judge(
            payload: payload,
            algorithm: algorithm,
            nowSeconds: nowSeconds,
            nonce: nonce,
            code: code
        )
    }

    /// What `aud` of a token says, for the answer to a developer; nil if it says nothing that can be shown.
    public static func unverifiedAudience(of text: String) -> String? {
        guard let payload = try? CompactJWS(parsing: text).unverifiedPayload,
            let claims = try? JSONObject(parsing: payload, limits: JSONLimits(bytesMax: 16 * 1024))
        else { return nil }
        let names = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
        let isShowable = { (name: String) in
            1...AudiencePolicy.idBytesMax ~= name.utf8.count && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        }
        guard 1...4 ~= names.count, names.allSatisfy(isShowable) else { return nil }
        return names.joined(separator: ", ")
    }

    /// The claims as they would be if a key had verified the token: issuer, audience, times, nonce, code and subject are judged,
    /// and nothing of them may be believed.
    public func plausibleClaims(
        policy: ProviderPolicy,
        nowSeconds: Int64,
        nonce: String?,
        code: String
    ) throws(TokenRejection) -> ProviderClaims {
        try policy.judge(
            payload: jws.unverifiedPayload,
            algorithm: algorithm,
            nowSeconds: nowSeconds,
            nonce: nonce,
            code: code
        )
    }
}

extension TokenRejection {
    init(_ error: JWSError) {
        switch error {
        case .tooLarge, .malformed, .criticalExtension, .embeddedKey: self = .malformed
        case .unsigned: self = .unsigned
        case .unsupportedAlgorithm: self = .algorithm
        case .badSignature: self = .signature
        }
    }
}
