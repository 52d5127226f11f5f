import JOSE
import WebAuthn

/// What a server stored of an app's key, as far as an assertion is verified with it.
public struct StoredAppKey: Sendable, Hashable {
    /// ``AttestedAppKey/publicKey``.
    public let publicKey: [UInt8]
    /// The counter of the last assertion that was accepted; 0 before the first.
    public let counter: UInt32

    /// A stored key.
    public init(publicKey: [UInt8], counter: UInt32) {
        self.publicKey = publicKey
        self.counter = counter
    }
}

extension AppAttest {
    /// Verifies an assertion, by the steps of Apple's "Verify the assertion", and returns its counter.
    ///
    /// The rest is the caller's: that the challenge in the client data was made for this request and is used once, and that the
    /// counter is stored only if no higher one was meanwhile, in one step.
    ///
    /// - Parameters:
    ///   - assertion: what `generateAssertion(_:clientDataHash:)` returned in the app.
    ///   - clientData: the bytes whose SHA-256 the app passed as `clientDataHash`.
    ///   - key: what is stored of the key that the app names.
    /// - Throws: the ``AppAttestError`` of the first step that fails.
    public func verifyAssertion(
        _ assertion: [UInt8],
        clientData: [UInt8],
        key: StoredAppKey
    ) throws(AppAttestError) -> UInt32 {
        guard assertion.count <= Self.assertionBytesMax else { throw .tooLarge(.assertion) }
        guard let object = try? CBORReader.whole(assertion[...]).map, object.hasOnlyTextKeys,
            let signature = object["signature"]?.bytes, let authenticatorData = object["authenticatorData"]?.bytes
        else { throw .malformed(.assertion) }
        guard key.publicKey.count == 65, key.publicKey.first == 0x04,
            let verifier = try? VerificationKey(
                curve: .p256,
                x: Array(key.publicKey[1..<33]),
                y: Array(key.publicKey[33...])
            )
        else { throw .malformed(.publicKey) }
        // Steps 1 to 3. The nonce is a hash, and is hashed once more as the message of ES256.
        let nonce = SHA256.hash(Array(authenticatorData) + SHA256.hash(clientData))
        guard verifier.verifies(derSignature: Array(signature), of: nonce, algorithm: .es256) else {
            throw .badSignature
        }
        // Steps 4 and 5.
        let data = try AppAttestData.ofAssertion(authenticatorData)
        guard ConstantTime.areEqual(data.appIDHash, appIDHash) else { throw .wrongApp }
        guard data.counter > key.counter else { throw .counterNotHigher }
        return data.counter
    }
}
