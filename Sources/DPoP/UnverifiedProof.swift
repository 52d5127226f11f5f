import JOSE

/// A proof whose form was checked, but not its signature. Anyone may have written it.
struct UnverifiedProof: Sendable {
    /// The bounds of the header and of the claims: each is an object with at most one other inside.
    private static let limits = JSONLimits(bytesMax: DPoPVerifier.proofBytesMax, depthMax: 4, valuesMax: 64)
    /// Other sources of a key than `jwk`. A proof has its key in itself (RFC 9449 section 4.2).
    private static let otherKeySources = ["jku", "x5u", "x5c"]

    let claims: ProofClaims
    private let algorithm: DPoPAlgorithm
    private let algorithmName: String
    private let jwk: JSONObject
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    /// Parses the value of a `DPoP` header: a compact JWS (RFC 7515 section 7.1).
    init(parsing text: String) throws(DPoPError) {
        guard text.utf8.count <= DPoPVerifier.proofBytesMax else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(utf8: parts[2]),
            let header = Self.object(parts[0]), let payload = Self.object(parts[1])
        else { throw .malformed }

        // The value itself is prescribed, not a media type that means the same (RFC 9449 section 4.2).
        guard let type = header["typ"]?.string, type.utf8.elementsEqual("dpop+jwt".utf8) else { throw .wrongType }
        guard let name = header["alg"]?.string, let algorithm = DPoPAlgorithm(name: name) else {
            throw .unsupportedAlgorithm
        }
        guard header["crit"] == nil, header["b64"] == nil else { throw .criticalExtension }
        guard let jwk = header["jwk"]?.object, Self.otherKeySources.allSatisfy({ header[$0] == nil }) else {
            throw .badKey
        }
        try ProofKey.checkIsPublic(jwk)

        claims = try ProofClaims(payload)
        self.algorithm = algorithm
        algorithmName = name
        self.jwk = jwk
        signingInput = Array(bytes[..<parts[1].endIndex])
        self.signature = signature
    }

    /// The key in the header. Expensive, so other checks come before it.
    func key() throws(DPoPError) -> ProofKey {
        try ProofKey(jwk: jwk, algorithm: algorithm, algorithmName: algorithmName)
    }

    /// Whether the signature is this key's.
    func isSigned(by key: ProofKey) -> Bool { key.verifies(signature, of: signingInput) }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        Base64URL.decode(utf8: part).flatMap { try? JSONObject(parsing: $0, limits: limits) }
    }
}
