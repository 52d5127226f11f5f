import Certificates

/// The format `fido-u2f` (section 8.6).
enum U2FStatement {
    static func verify(_ statement: CBORMap, _ claims: AttestationClaims) throws(AttestationError) -> [Certificate] {
        let path = try statement.certificates()
        guard path.count == 1 else { throw .malformed }
        guard let point = claims.key.uncompressedPoint else { throw .keysDiffer }
        // These authenticators don't know their model: the metadata have it by the certificate's key.
        guard claims.credential.aaguid.allSatisfy({ $0 == 0 }) else { throw .wrongCertificate }
        let signed = [0x00] + claims.relyingPartyIDHash + claims.clientDataHash + claims.credential.id + point
        try path[0].verify(statement.attestationBytes("sig"), of: signed, algorithm: PasskeyAlgorithm.es256.rawValue)
        return path
    }
}
