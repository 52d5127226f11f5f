import JOSE

/// Why a configuration of Play Integrity was rejected.
public enum PlayIntegrityConfigurationError: Error, Sendable, Hashable {
    /// The key is not 32 bytes, or not in base64.
    case invalidDecryptionKey
    /// The key is not on P-256, or not in base64 and DER.
    case invalidVerificationKey
    /// The package's name is empty, too long, or has something else than letters, digits, underscores and dots.
    case invalidPackageName
    /// There is no digest of a certificate, or too many, or one is not 32 bytes.
    case invalidCertificateDigests
    /// The maximum age is not from a second to a day.
    case invalidAge
}

/// Why an integrity token was rejected. No case has a value out of it, so a log may hold them all.
public enum PlayIntegrityError: Error, Sendable, Hashable {
    /// The token can't be decrypted.
    case encryption(JWEError)
    /// What was encrypted is not signed by Google's key.
    case signature(JWSError)
    /// The payload is no JSON object, or a member is missing or has another form.
    case malformed(Member)
    /// The token was asked for by another app.
    case wrongRequestPackage
    /// The token was made for another request: the nonce or the hash is another one, or of the other kind.
    case wrongRequest
    /// The token is older than the policy's maximum.
    case expired
    /// The token is of a time to come.
    case notYetValid
    /// The operator configured this answer in the Play Console as a test.
    case testResponse
    /// Google Play does not recognize the app and its version, or did not evaluate them.
    case appNotRecognized
    /// The app has another package name.
    case wrongPackage
    /// The app is signed by another certificate.
    case wrongCertificate
    /// The app is older than the policy's minimum.
    case versionTooOld
    /// The device doesn't have the label that the policy requires.
    case deviceNotTrusted
    /// The user's account did not get the app from Google Play.
    case notLicensed

    /// A member of the payload.
    public enum Member: Sendable, Hashable, CaseIterable {
        /// The payload itself.
        case payload
        /// `requestDetails`.
        case requestDetails
        /// `appIntegrity`.
        case appIntegrity
        /// `deviceIntegrity`.
        case deviceIntegrity
        /// `accountDetails`.
        case accountDetails
        /// `testingDetails`.
        case testingDetails
    }
}
