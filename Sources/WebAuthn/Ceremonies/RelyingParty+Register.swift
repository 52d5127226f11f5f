import JOSE

extension RelyingParty {
    /// Verifies a registration (section 7.1), and returns the passkey to store.
    ///
    /// The rest is the caller's: that the challenge was made for this user, is used once and not too late, and that no account has a
    /// credential of this id. A registration without a gesture (`mediation: "conditional"`) is rejected.
    ///
    /// - Parameters:
    ///   - challenge: the bytes that the options had, at least ``challengeBytesMin``.
    ///   - attestation: the policy that the options had.
    ///   - now: in seconds since 1970, at which certificates are valid; not used under ``AttestationPolicy/none``.
    /// - Throws: the ``WebAuthnError`` of the first step that fails.
    public func register(
        _ response: RegistrationResponse,
        challenge: [UInt8],
        attestation: AttestationPolicy,
        now: Int
    ) throws(WebAuthnError) -> NewPasskey {
        try checkClientData(response.clientDataJSON, of: .registration, challenge: challenge)
        let object = try AttestationObject(parsing: response.attestationObject)
        let data = object.authenticatorData
        try check(data)
        guard let credential = data.credential else { throw .malformed(.authenticatorData) }
        let key = try COSEKey(parsing: credential.publicKey)
        guard credential.id == response.credentialID else { throw .credentialIDsDiffer }
        let claims = AttestationClaims(
            authenticatorData: Array(object.authenticatorDataBytes),
            clientDataHash: SHA256.hash(response.clientDataJSON),
            relyingPartyIDHash: Array(data.relyingPartyIDHash),
            credential: credential,
            key: key
        )
        let verified: VerifiedAttestation?
        do throws(AttestationError) {
            verified = try attestation.verify(object, claims, now: now)
        } catch {
            throw .attestation(error)
        }
        return NewPasskey(
            credentialID: credential.id,
            publicKey: credential.publicKey,
            algorithm: key.algorithm,
            signCount: data.signCount,
            aaguid: credential.aaguid,
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified),
            transports: response.transports,
            attestation: verified
        )
    }

    /// Verifies a registration under ``AttestationPolicy/none``.
    public func register(
        _ response: RegistrationResponse,
        challenge: [UInt8]
    ) throws(WebAuthnError) -> NewPasskey {
        try register(response, challenge: challenge, attestation: .none, now: 0)
    }
}
