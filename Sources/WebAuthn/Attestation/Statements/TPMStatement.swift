import Bytes
import Certificates
import JOSE

/// The format `tpm` (section 8.3), for a TPM 2.0.
enum TPMStatement {
    /// The purpose of a certificate for attestation keys, 2.23.133.8.3, as it is encoded.
    private static let purpose: [UInt8] = [0x67, 0x81, 0x05, 0x08, 0x03]
    /// What the alternative name says of a TPM, 2.23.133.2.1 to 3: its manufacturer, model and version.
    private static let attributes = (1...3).map { [0x67, 0x81, 0x05, 0x02, $0] as [UInt8] }
    /// The maximum of parts of an alternative name.
    private static let namesMax = 16

    /// COSE's number of RSASSA-PKCS1-v1_5 with SHA-1, which most TPMs of Windows sign with.
    private static let rs1: Int64 = -65_535

    static func verify(_ statement: CBORMap, _ claims: AttestationClaims) throws(AttestationError) -> [Certificate] {
        guard statement["ver"]?.text?.utf8.elementsEqual("2.0".utf8) == true, statement["ecdaaKeyId"] == nil else {
            throw .malformed
        }
        let (algorithm, path) = (try statement.algorithm(), try statement.certificates())
        let signed = try statement.attestationBytes("certInfo")
        let publicArea = try statement.attestationBytes("pubArea")
        let signature = try statement.attestationBytes("sig")
        // The nonce is hashed with the algorithm's digest.
        let nonce: [UInt8]
        switch algorithm {
        case rs1:
            guard path[0].verifiesWithSHA1(signature, of: signed) else { throw .badSignature }
            nonce = Certificate.sha1(of: claims.signed)
        case -7, -37, -257:
            try path[0].verify(signature, of: signed, algorithm: algorithm)
            nonce = SHA256.hash(claims.signed)
        default: throw .unsupportedAlgorithm
        }
        let (certified, key): (TPMCertified, VerificationKey)
        do {
            certified = try TPMCertified(parsing: signed)
            key = try TPMPublicArea.key(of: publicArea)
        } catch {
            throw error == .malformed ? .malformed : .unsupportedAlgorithm
        }
        guard claims.key.isSame(as: key), certified.name.elementsEqual(TPMPublicArea.name(of: publicArea)) else {
            throw .keysDiffer
        }
        guard ConstantTime.areEqual(certified.nonce, nonce) else { throw .wrongNonce }
        guard isOfTPM(path[0]), path[0].isOfModel(claims.credential.aaguid) else { throw .wrongCertificate }
        return path
    }

    /// What section 8.3.1 asks of the certificate.
    private static func isOfTPM(_ certificate: Certificate) -> Bool {
        guard certificate.version == 3, certificate.isEndEntity, certificate.isSubjectEmpty,
            let names = certificate.extension("2.5.29.17")?.value, let uses = certificate.extension("2.5.29.37")?.value
        else { return false }
        return (try? hasPurpose(uses)) == true && (try? hasAttributes(names)) == true
    }

    private static func hasPurpose(_ value: [UInt8]) throws(DERError) -> Bool {
        var whole = DERReader(value)
        var uses = try whole.elements(.sequence)
        try whole.finish()
        while !uses.isAtEnd {
            if try uses.content(.objectIdentifier).elementsEqual(purpose) { return true }
        }
        return false
    }

    /// Whether a directory name among the alternative names has all three attributes.
    private static func hasAttributes(_ value: [UInt8]) throws(DERError) -> Bool {
        var whole = DERReader(value)
        var names = try whole.elements(.sequence)
        try whole.finish()
        var found: [[UInt8]] = []
        while !names.isAtEnd {
            let general = try names.element()
            guard general.tag == .explicit(4) else { continue }
            var name = DERReader(general.content)
            var parts = try name.elements(.sequence)
            while !parts.isAtEnd, found.count < namesMax {
                var set = try parts.elements(.set)
                while !set.isAtEnd, found.count < namesMax {
                    var attribute = try set.elements(.sequence)
                    found.append(Array(try attribute.content(.objectIdentifier)))
                }
            }
        }
        return attributes.allSatisfy(found.contains)
    }
}
