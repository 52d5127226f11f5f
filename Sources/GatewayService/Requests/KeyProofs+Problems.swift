import DPoP
import HTTPJSON
import HTTPTypes

extension KeyProofs {
    /// `WWW-Authenticate` of a request whose proof is missing or wrong (RFC 9449 section 7.1).
    static func challenge(_ error: String) -> String {
        "DPoP realm=\"vestibule\", algs=\"\(DPoPAlgorithm.allNames.joined(separator: " "))\", error=\"\(error)\""
    }

    /// The problem of a proof that was rejected.
    static func problem(_ error: DPoPError) -> Problem {
        switch error.code {
        case .useNonce:
            Problem(
                .unauthorized,
                code: "DPOP_NONCE_REQUIRED",
                detail: "The proof needs the nonce of DPoP-Nonce. Make another one, and send the request again.",
                headers: [.wwwAuthenticate: challenge(error.code.rawValue)]
            )
        case .invalidProof: problem(sentence(error))
        }
    }

    /// The problem of a proof that was rejected, for developers.
    static func problem(_ detail: String) -> Problem {
        Problem(
            .unauthorized,
            code: "DPOP_PROOF_INVALID",
            detail: detail,
            headers: [.wwwAuthenticate: challenge(DPoPError.Code.invalidProof.rawValue)]
        )
    }

    /// The problem of a bound token without a proof by its key.
    static let required = Problem(
        .unauthorized,
        code: "DPOP_PROOF_REQUIRED",
        detail: "The access token is bound to a key: it needs the scheme DPoP, and a proof by that key.",
        headers: [.wwwAuthenticate: challenge("invalid_token")]
    )

    /// The problem of a bound token at a gateway that verifies no proofs, since it doesn't know the address that they name.
    static let off = Problem(
        .unauthorized,
        code: "DPOP_PROOF_REQUIRED",
        detail: "No proofs are accepted here: the server doesn't know its public address.",
        headers: [.wwwAuthenticate: challenge("invalid_token")]
    )

    /// The word of an OAuth error for a problem of ours; nil for any other (RFC 9449 sections 5 and 8).
    static func oauthError(ofCode code: String) -> String? {
        switch code {
        case "DPOP_NONCE_REQUIRED": DPoPError.Code.useNonce.rawValue
        case "DPOP_PROOF_INVALID": DPoPError.Code.invalidProof.rawValue
        default: nil
        }
    }

    private static func sentence(_ error: DPoPError) -> String {
        switch error {
        case .tooLarge: "The proof is longer than \(DPoPVerifier.proofBytesMax) bytes."
        case .malformed: "The proof is no JWT with the header and the claims of RFC 9449 section 4.2."
        case .wrongType: "The proof's typ is not dpop+jwt."
        case .unsupportedAlgorithm: "The proof's alg is none of \(DPoPAlgorithm.allNames.joined(separator: ", "))."
        case .criticalExtension: "The proof has crit, and no extension is supported."
        case .privateKey: "The proof's jwk has private or symmetric members."
        case .badKey: "The proof's jwk is no public key of its alg."
        case .badSignature: "The proof's signature is wrong."
        case .wrongMethod: "The proof's htm is not this request's method."
        case .wrongTarget: "The proof's htu is not this request's URL below the public address."
        case .tooOld: "The proof is too old, by its iat or exp."
        case .fromFuture: "The proof is from the future, by its iat or nbf."
        case .wrongAccessToken: "The proof's ath is not the hash of the access token."
        case .wrongKey: "The proof is by another key than the token is bound to."
        case .missingNonce, .badNonce: "The proof needs the nonce of DPoP-Nonce."
        }
    }
}

extension HTTPField.Name {
    // RFC 9449 sections 4.1 and 8. Forced because the literals are tokens of RFC 9110 section 5.6.2.
    static let dpop = HTTPField.Name("DPoP")!
    static let dpopNonce = HTTPField.Name("DPoP-Nonce")!
}
