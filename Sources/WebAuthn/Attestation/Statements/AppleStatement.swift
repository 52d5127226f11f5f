import Certificates
import JOSE

/// The format `apple` (section 8.8).
enum AppleStatement {
    static func verify(_ statement: CBORMap, _ claims: AttestationClaims) throws(AttestationError) -> [Certificate] {
        let path = try statement.certificates()
        guard let nonce = AppleNonce.of(path[0]), ConstantTime.areEqual(nonce, SHA256.hash(claims.signed)) else {
            throw .wrongNonce
        }
        guard claims.key.isSame(as: try path[0].verificationKey()) else { throw .keysDiffer }
        return path
    }
}
