import JOSE

extension RelyingParty {
    /// Verifies a sign-in (section 7.2) with the passkey that is stored under ``AuthenticationResponse/credentialID``.
    ///
    /// The rest is the caller's: that the challenge was made for this sign-in, is used once and not too late; that the credential is among
    /// `allowCredentials`, if there were any; and that the passkey's account has the user handle, which must be there if
    /// there were none.
    ///
    /// - Parameter challenge: the bytes that the options had, at least ``challengeBytesMin``.
    /// - Throws: the ``WebAuthnError`` of the first step that fails.
    public func verify(
        _ response: AuthenticationResponse,
        challenge: [UInt8],
        passkey: StoredPasskey
    ) throws(WebAuthnError) -> PasskeyAssertion {
        try checkClientData(response.clientDataJSON, of: .authentication, challenge: challenge)
        let data = try AuthenticatorData(parsing: response.authenticatorData[...])
        // Section 6.1: a credential's data comes at a registration only.
        guard data.credential == nil else { throw .malformed(.authenticatorData) }
        try check(data)
        guard data.flags.contains(.backupEligible) == passkey.isBackupEligible else { throw .backupEligibilityChanged }
        let key = try COSEKey(parsing: passkey.publicKey)
        let signed = response.authenticatorData + SHA256.hash(response.clientDataJSON)
        guard key.verifies(response.signature, of: signed) else { throw .badSignature }
        return PasskeyAssertion(
            signCount: data.signCount,
            isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified),
            isCounterBehind: (data.signCount > 0 || passkey.signCount > 0) && data.signCount <= passkey.signCount,
            userHandle: response.userHandle
        )
    }
}
