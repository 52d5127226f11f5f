import JOSE

/// A provider's message on its way from text to events: parsed, then verified by a key, then judged. The key may have to be
/// fetched between the first and the second.
public struct NoticeToken: Sendable {
    private let jws: CompactJWS
    /// The `kid` to look the key up by.
    public let keyID: String
    /// The algorithm to look the key up by; one that the provider may use.
    public var algorithm: SignatureAlgorithm { jws.algorithm }

    /// The accepted types of header (RFC 8417 section 2.3 recommends the last); an ID token is recognized by its claims.
    private static let types: Set<String> = ["jwt", "secevent+jwt"]

    /// Parses a message and checks its header against the policy.
    public init(parsing text: String, policy: ProviderPolicy) throws(NoticeRejection) {
        do {
            jws = try CompactJWS(parsing: text)
        } catch {
            throw NoticeRejection(error)
        }
        guard policy.algorithms.contains(jws.algorithm) else { throw .signature }
        guard jws.type.map({ Self.types.contains($0.lowercased()) }) ?? true else { throw .malformed }
        guard let keyID = jws.keyID, !keyID.isEmpty else { throw .keyUnknown }
        self.keyID = keyID
    }

    /// What it says, if `key` signed it and the policy accepts it.
    ///
    /// - Parameter nowSeconds: the time, in Unix seconds.
    public func notice(
        verifiedWith key: VerificationKey,
        policy: ProviderPolicy,
        from sender: NoticeSender,
        nowSeconds: Int64
    ) throws(NoticeRejection) -> ProviderNotice {
        let payload: [UInt8]
        do {
            payload = try jws.verifiedPayload(with: key)
        } catch {
            throw NoticeRejection(error)
        }
        return try policy.judge(notice: payload, from: sender, nowSeconds: nowSeconds)
    }
}

extension NoticeRejection {
    init(_ error: JWSError) {
        switch error {
        case .tooLarge, .malformed, .criticalExtension, .embeddedKey: self = .malformed
        case .unsigned, .unsupportedAlgorithm, .badSignature: self = .signature
        }
    }
}
