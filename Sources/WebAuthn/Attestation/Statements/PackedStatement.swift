import Certificates

/// The format `packed` (section 8.2).
enum PackedStatement {
    static func verify(_ statement: CBORMap, _ claims: AttestationClaims) throws(AttestationError) -> [Certificate] {
        let (algorithm, signature) = (try statement.algorithm(), try statement.attestationBytes("sig"))
        // ECDAA, of earlier levels.
        guard statement["ecdaaKeyId"] == nil else { throw .malformed }
        guard statement["x5c"] != nil else {
            guard algorithm == claims.key.algorithm.rawValue else { throw .unsupportedAlgorithm }
            guard claims.key.verifies(signature, of: claims.signed) else { throw .badSignature }
            return []
        }
        let path = try statement.certificates()
        try path[0].verify(signature, of: claims.signed, algorithm: algorithm)
        guard isOfAuthenticator(path[0]), path[0].isOfModel(claims.credential.aaguid) else { throw .wrongCertificate }
        return path
    }

    /// What section 8.2.1 asks of the certificate.
    private static func isOfAuthenticator(_ certificate: Certificate) -> Bool {
        certificate.version == 3 && certificate.isEndEntity && certificate.subject(.country)?.utf8.count == 2
            && certificate.subject(.organization) != nil && certificate.subject(.commonName) != nil
            && certificate.subject(.organizationalUnit)?.utf8.elementsEqual("Authenticator Attestation".utf8) == true
    }
}
