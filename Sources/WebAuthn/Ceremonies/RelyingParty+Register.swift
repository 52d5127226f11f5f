extension RelyingParty {
    /// Verifies a registration (section 7.1), and returns the passkey to store.
    ///
    /// The rest is the caller's: that the challenge was made for this user, is used once and not too late, and that no account has a
    /// credential of this id. A registration without a gesture (`mediation: "conditional"`) is rejected.
    ///
    /// - Parameter challenge: the bytes that the options had, at least ``challengeBytesMin``.
    /// - Throws: the ``WebAuthnError`` of the first step that fails.
    public func register(
        _ response: RegistrationResponse,
        challenge: [UInt8]
    ) throws(WebAuthnError) -> NewPasskey {
        try checkClientData(response.clientDataJSON, of: .registration, challenge: challenge)
        // Attestation "none" signs nothing, so the hash of the client data isn't needed.
        let data = try AttestationObject(parsing: response.attestationObject).authenticatorData
        try check(data)
        guard let credential = data.credential else { throw .malformed(.authenticatorData) }
        let key = try COSEKey(parsing: credential.publicKey)
        guard credential.id == response.credentialID else { throw .credentialIDsDiffer }
        return NewPasskey(
            credentialID: credential.id,
            publicKey: credential.publicKey,
            algorithm: key.algorithm,
            signCount: data.signCount,
            aaguid: credential.aaguid,
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified),
            transports: response.transports
        )
    }
}
