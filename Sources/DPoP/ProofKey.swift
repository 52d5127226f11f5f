import JOSE

/// The public key in the header of a proof.
enum ProofKey: Sendable {
    case p256(VerificationKey)
    case ed25519(Ed25519Key)

    /// The members of private keys (RFC 7518 sections 6.2.2 and 6.3.2, RFC 8037 section 2) and of symmetric ones (RFC 7518 section
    /// 6.4).
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Checks that a `jwk` has no private member, before anything else is read from it.
    static func checkIsPublic(_ jwk: JSONObject) throws(DPoPError) {
        guard jwk["kty"] != "oct", privateMembers.allSatisfy({ jwk[$0] == nil }) else { throw .privateKey }
    }

    /// Reads the key of a `jwk`, which must suit the algorithm. Where it says what it is for, that must be this algorithm and
    /// signatures (RFC 7517 sections 4.2 to 4.4).
    init(jwk: JSONObject, algorithm: DPoPAlgorithm, algorithmName: String) throws(DPoPError) {
        if let name = jwk["alg"], name != .string(algorithmName) { throw .badKey }
        if let use = jwk["use"], use != "sig" { throw .badKey }
        if let operations = jwk["key_ops"], operations.array?.contains("verify") != true { throw .badKey }
        do {
            switch algorithm {
            case .es256:
                // Looked at first: another kind of key is not worth building.
                guard jwk["kty"] == "EC", jwk["crv"] == "P-256" else { throw DPoPError.badKey }
                self = .p256(try VerificationKey(jwk: jwk))
            case .ed25519:
                self = .ed25519(try Ed25519Key(jwk: jwk))
            }
        } catch {
            throw .badKey
        }
    }

    /// Whether the signature, in JOSE's form, is this key's.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch self {
        case .p256(let key): key.verifies(signature, of: message, algorithm: .es256)
        case .ed25519(let key): key.verifies(signature, of: message)
        }
    }

    /// The key's thumbprint.
    var thumbprint: JWKThumbprint {
        switch self {
        case .p256(let key): key.jwkThumbprint
        case .ed25519(let key): key.jwkThumbprint
        }
    }
}
