import JOSE

extension RelyingParty {
    /// Checks what both ceremonies ask of authenticator data: the hash of the RP ID, and the flags UP, UV, BE and BS.
    func check(_ data: AuthenticatorData) throws(WebAuthnError) {
        guard ConstantTime.areEqual(data.relyingPartyIDHash, idHash) else { throw .wrongRelyingParty }
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        guard userVerification == .preferred || data.flags.contains(.userVerified) else { throw .userNotVerified }
        guard !data.flags.contains(.backedUp) || data.flags.contains(.backupEligible) else {
            throw .backupStateImpossible
        }
    }
}
