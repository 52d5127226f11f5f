import Certificates
import JOSE
import WebAuthn

/// The key of an app that was attested, for the caller to store under its ``id``.
public struct AttestedAppKey: Sendable, Hashable {
    /// The identifier, 32 bytes: the SHA-256 of ``publicKey``.
    public let id: [UInt8]
    /// The public key, an uncompressed point on P-256 of 65 bytes: ``StoredAppKey/publicKey`` later. Its counter is 0.
    public let publicKey: [UInt8]
    /// Where the key was made.
    public let environment: AppAttest.Environment
    /// Apple's receipt, with which its servers assess the risk of the device; not verified.
    public let receipt: [UInt8]
}

extension AppAttest {
    /// Verifies an attestation object, by the steps of Apple's "Verify the attestation", and returns the key to store.
    ///
    /// The rest is the caller's: that the challenge in the client data was made for this, is used once and not too late.
    ///
    /// - Parameters:
    ///   - object: what `attestKey(_:clientDataHash:)` returned in the app.
    ///   - keyID: what `generateKey()` returned, decoded: 32 bytes.
    ///   - clientData: the bytes whose SHA-256 the app passed as `clientDataHash`.
    ///   - now: in seconds since 1970.
    /// - Throws: the ``AppAttestError`` of the first step that fails.
    public func verifyAttestation(
        _ object: [UInt8],
        keyID: [UInt8],
        clientData: [UInt8],
        now: Int
    ) throws(AppAttestError) -> AttestedAppKey {
        try verifyAttestation(object, keyID: keyID, clientDataHash: SHA256.hash(clientData), now: now)
    }

    /// As above, of the hash: Apple's own example has the challenge itself there.
    func verifyAttestation(
        _ object: [UInt8],
        keyID: [UInt8],
        clientDataHash: [UInt8],
        now: Int
    ) throws(AppAttestError) -> AttestedAppKey {
        guard keyID.count == Self.keyIDByteCount else { throw .malformed(.keyID) }
        let parts = try Self.parts(ofAttestation: object)
        // Step 1.
        do { try roots.verify(parts.chain, at: now) } catch { throw .untrusted(error) }
        // Steps 2 to 4.
        let leaf = parts.chain[0]
        let nonce = SHA256.hash(Array(parts.authenticatorData) + clientDataHash)
        guard let certified = AppleNonce.of(leaf), ConstantTime.areEqual(certified, nonce) else { throw .wrongNonce }
        // Step 5.
        guard let key = try? VerificationKey(publicKeyInfo: leaf.publicKeyInfo), key.type == .p256,
            let point = key.uncompressedPoint
        else { throw .badKey }
        guard SHA256.hash(point) == keyID else { throw .wrongKeyID }
        // Steps 6 to 9.
        let (data, credential) = try AppAttestData.ofAttestation(parts.authenticatorData)
        guard ConstantTime.areEqual(data.appIDHash, appIDHash) else { throw .wrongApp }
        guard data.counter == 0 else { throw .counterNotZero }
        guard let environment = environments.first(where: { credential.aaguid.elementsEqual($0.aaguid) }) else {
            throw .wrongEnvironment
        }
        guard credential.id.elementsEqual(keyID), Self.point(credential.publicKey) == point else { throw .wrongKeyID }
        return AttestedAppKey(id: keyID, publicKey: point, environment: environment, receipt: parts.receipt)
    }

    private static func parts(
        ofAttestation bytes: [UInt8]
    ) throws(AppAttestError) -> (chain: [Certificate], receipt: [UInt8], authenticatorData: ArraySlice<UInt8>) {
        guard bytes.count <= attestationBytesMax else { throw .tooLarge(.attestation) }
        guard let object = try? CBORReader.whole(bytes[...]).map, object.hasOnlyTextKeys,
            let format = object["fmt"]?.text, let statement = object["attStmt"]?.map,
            let authenticatorData = object["authData"]?.bytes
        else { throw .malformed(.attestation) }
        guard format.utf8.elementsEqual("apple-appattest".utf8) else { throw .wrongFormat }
        guard let elements = statement["x5c"]?.array, let receipt = statement["receipt"]?.bytes else {
            throw .malformed(.attestation)
        }
        guard elements.count <= TrustAnchors.chainCertificatesMax else { throw .untrusted(.tooLong) }
        var chain: [Certificate] = []
        for element in elements {
            guard let der = element.bytes, let certificate = try? Certificate(der: Array(der)) else {
                throw .malformed(.certificate)
            }
            chain.append(certificate)
        }
        guard !chain.isEmpty else { throw .untrusted(.empty) }
        return (chain, Array(receipt), authenticatorData)
    }

    /// The point of a COSE_Key for ES256 (RFC 9053 section 7.1.1), uncompressed.
    private static func point(_ key: CBORMap) -> [UInt8]? {
        guard key[1]?.integer == 2, key[-1]?.integer == 1, let x = key[-2]?.bytes, let y = key[-3]?.bytes else {
            return nil
        }
        return [0x04] + Array(x) + Array(y)
    }
}
