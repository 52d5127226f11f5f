import Bytes
import JOSE

/// Why a structure of a TPM was rejected.
enum TPMError: Error, Sendable, Hashable {
    /// It doesn't have its form.
    case malformed
    /// It names an algorithm or a curve that is not supported.
    case unsupported
}

/// What a TPM certified of a key: a TPMS_ATTEST (Trusted Platform Module Library, Part 2: Structures, section 10.12.8).
struct TPMCertified {
    /// `TPM_GENERATED_VALUE`: the structure was made inside of the TPM.
    private static let magic: UInt32 = 0xff54_4347
    /// `TPM_ST_ATTEST_CERTIFY`.
    private static let certify: UInt16 = 0x8017
    /// Bytes of `clockInfo` and `firmwareVersion`.
    private static let clockByteCount = 17 + 8

    /// The data that the caller of the TPM named.
    let nonce: ArraySlice<UInt8>
    /// The name of the key.
    let name: ArraySlice<UInt8>

    /// Reads the structure that all of `bytes` are.
    init(parsing bytes: [UInt8]) throws(TPMError) {
        var reader = ByteReader(bytes[...], truncated: TPMError.malformed)
        guard try reader.integer(UInt32.self) == Self.magic, try reader.integer(UInt16.self) == Self.certify else {
            throw .malformed
        }
        _ = try reader.sized()
        nonce = try reader.sized()
        _ = try reader.take(Self.clockByteCount)
        name = try reader.sized()
        _ = try reader.sized()
        guard reader.isAtEnd else { throw .malformed }
    }
}

/// A public key as a TPM writes it: a TPMT_PUBLIC (Part 2, section 12.2.4).
enum TPMPublicArea {
    private static let rsa: UInt16 = 0x0001
    private static let elliptic: UInt16 = 0x0023
    private static let null: UInt16 = 0x0010
    private static let sha256: UInt16 = 0x000b
    private static let p256: UInt16 = 0x0003
    private static let defaultExponent: UInt32 = 65_537

    /// The name of a key (Part 1, section 16): the number of the digest, and the digest of the structure.
    static func name(of bytes: [UInt8]) -> [UInt8] {
        var name: [UInt8] = []
        name.append(integer: sha256)
        return name + SHA256.hash(bytes)
    }

    /// The key of the structure that all of `bytes` are, whose name is by SHA-256.
    static func key(of bytes: [UInt8]) throws(TPMError) -> VerificationKey {
        var reader = ByteReader(bytes[...], truncated: TPMError.malformed)
        let type = try reader.integer(UInt16.self)
        guard try reader.integer(UInt16.self) == sha256 else { throw .unsupported }
        // The attributes, and the digest of the policy.
        _ = try reader.integer(UInt32.self)
        _ = try reader.sized()
        // A signing key encrypts nothing.
        guard try reader.integer(UInt16.self) == null else { throw .malformed }
        try skipScheme(&reader)
        switch type {
        case rsa:
            // The number of bits; the modulus has it too.
            _ = try reader.integer(UInt16.self)
            let exponent = try reader.integer(UInt32.self)
            let modulus = try reader.last()
            var written: [UInt8] = []
            written.append(integer: exponent == 0 ? defaultExponent : exponent)
            return try made { () throws(KeyError) in
                try VerificationKey(modulus: modulus, exponent: Array(written.drop { $0 == 0 }))
            }
        case elliptic:
            guard try reader.integer(UInt16.self) == p256, try reader.integer(UInt16.self) == null else {
                throw .unsupported
            }
            let x = Array(try reader.sized())
            let y = try reader.last()
            return try made { () throws(KeyError) in try VerificationKey(curve: .p256, x: x, y: y) }
        default: throw .unsupported
        }
    }

    /// Skips the scheme of signatures: none, or one with a digest.
    private static func skipScheme(_ reader: inout ByteReader<TPMError>) throws(TPMError) {
        if try reader.integer(UInt16.self) != null { _ = try reader.integer(UInt16.self) }
    }

    private static func made(
        _ make: () throws(KeyError) -> VerificationKey
    ) throws(TPMError) -> VerificationKey {
        do throws(KeyError) { return try make() } catch { throw .malformed }
    }
}

extension ByteReader<TPMError> {
    /// Reads bytes behind their length of 16 bits.
    fileprivate mutating func sized() throws(TPMError) -> ArraySlice<UInt8> { try take(Int(try integer(UInt16.self))) }

    /// Reads bytes behind their length, and nothing may follow.
    fileprivate mutating func last() throws(TPMError) -> [UInt8] {
        let bytes = Array(try sized())
        guard isAtEnd else { throw .malformed }
        return bytes
    }
}
