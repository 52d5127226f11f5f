import JOSE

/// The challenge that client data says it answers, for relying parties that keep no challenges and know their own by a code. Nothing of
/// the client data was checked: pass it to ``RelyingParty/verify(_:challenge:passkey:)`` or ``RelyingParty/register(_:challenge:)``
/// once it is known to be yours.
enum ClaimedChallenge {
    /// The bytes; nil if the client data has none.
    static func bytes(of clientDataJSON: [UInt8]) -> [UInt8]? {
        guard let data = try? JSONObject(parsing: clientDataJSON, limits: RelyingParty.clientDataLimits) else {
            return nil
        }
        return data["challenge"]?.string.flatMap { Base64URL.decode($0) }
    }
}

extension AuthenticationResponse {
    /// The challenge that the client says it answers; nothing was checked. Nil if there is none.
    public var claimedChallenge: [UInt8]? { ClaimedChallenge.bytes(of: clientDataJSON) }
}

extension RegistrationResponse {
    /// The challenge that the client says it answers; nothing was checked. Nil if there is none.
    public var claimedChallenge: [UInt8]? { ClaimedChallenge.bytes(of: clientDataJSON) }
}
