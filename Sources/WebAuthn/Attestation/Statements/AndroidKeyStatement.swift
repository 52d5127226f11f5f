import Bytes
import Certificates
import JOSE

/// The format `android-key` (section 8.4).
enum AndroidKeyStatement {
    static func verify(_ statement: CBORMap, _ claims: AttestationClaims) throws(AttestationError) -> [Certificate] {
        let path = try statement.certificates()
        try path[0].verify(
            statement.attestationBytes("sig"),
            of: claims.signed,
            algorithm: statement.algorithm()
        )
        guard claims.key.isSame(as: try path[0].verificationKey()) else { throw .keysDiffer }
        guard let value = path[0].extension(AndroidKeyDescription.identifier)?.value else { throw .wrongCertificate }
        let description: AndroidKeyDescription
        do {
            description = try AndroidKeyDescription(parsing: value)
        } catch {
            throw .wrongCertificate
        }
        guard ConstantTime.areEqual(description.challenge, claims.clientDataHash) else { throw .wrongNonce }
        guard description.isHardware, !description.software.isForAllApps, !description.hardware.isForAllApps,
            description.hardware.origin == AndroidKeyDescription.originGenerated,
            description.hardware.purposes == [AndroidKeyDescription.purposeSign]
        else { throw .keyNotProtected }
        return path
    }
}

/// What Android's keystore says of a key ("Key and ID attestation", source.android.com): as much as WebAuthn asks for.
struct AndroidKeyDescription {
    /// The extension.
    static let identifier = "1.3.6.1.4.1.11129.2.1.17"
    /// `KM_ORIGIN_GENERATED`: the key was made where it is.
    static let originGenerated = 0
    /// `KM_PURPOSE_SIGN`.
    static let purposeSign = 2
    /// The maximum of purposes; there are eight.
    private static let purposesMax = 16

    /// What is known of a key by one side.
    struct Authorizations {
        /// What the key may be used for.
        var purposes: [Int] = []
        /// Where it was made; nil if this side doesn't say.
        var origin: Int?
        /// Whether every app of the device may use it.
        var isForAllApps = false

        init(parsing reader: DERReader) throws(DERError) {
            var reader = reader
            while !reader.isAtEnd {
                let element = try reader.element()
                guard element.tag.tagClass == 2 else { throw .unexpected }
                var inner = DERReader(element.content)
                switch element.tag {
                case .explicit(1):
                    var set = try inner.elements(.set)
                    while !set.isAtEnd, purposes.count < purposesMax { purposes.append(try set.number()) }
                    try set.finish()
                case .explicit(600): isForAllApps = true
                case .explicit(702): origin = try inner.number()
                default: break
                }
            }
        }
    }

    /// The challenge of the attestation.
    let challenge: ArraySlice<UInt8>
    /// What Android itself enforces.
    let software: Authorizations
    /// What the trusted environment enforces.
    let hardware: Authorizations
    /// Whether both the attestation and the key are of a trusted environment or a chip of their own.
    let isHardware: Bool

    init(parsing value: [UInt8]) throws(DERError) {
        var whole = DERReader(value)
        var reader = try whole.elements(.sequence)
        try whole.finish()
        _ = try reader.number()
        let attestationLevel = try reader.number(.enumerated)
        _ = try reader.number()
        let keyLevel = try reader.number(.enumerated)
        challenge = try reader.content(.octetString)
        _ = try reader.content(.octetString)
        software = try Authorizations(parsing: reader.elements(.sequence))
        hardware = try Authorizations(parsing: reader.elements(.sequence))
        // 0 is software, 1 a trusted environment, 2 a chip of its own.
        isHardware = 1...2 ~= attestationLevel && 1...2 ~= keyLevel
    }
}
