import JOSE

/// What a client sends at a sign-in, parsed and not yet verified: `AuthenticationResponseJSON` of section 5.1.
public struct AuthenticationResponse: Sendable {
    /// The maximum length of the text in bytes.
    public static let bytesMax = CredentialJSON.bytesMax
    /// The maximum length of authenticator data in bytes: 37, and extensions.
    public static let authenticatorDataBytesMax = 4 * 1024
    /// The maximum length of a signature in bytes; an RSA key of 4096 bits makes 512.
    public static let signatureBytesMax = 1024
    /// The maximum length of a user handle in bytes (section 5.4.3).
    public static let userHandleBytesMax = 64

    /// The id of the credential, 1 to 1023 bytes: the caller looks its ``StoredPasskey`` up by it.
    public let credentialID: [UInt8]
    /// The user handle, 1 to 64 bytes: the `user.id` of the registration, which passkeys bring back. Nil if the client sent none, null,
    /// or an empty one, as some do for credentials that are no passkeys. Nothing signs it: the passkey's own account decides,
    /// and the two are compared (section 7.2).
    public let userHandle: [UInt8]?

    let clientDataJSON: [UInt8]
    let authenticatorData: [UInt8]
    let signature: [UInt8]

    /// Parses the JSON text.
    ///
    /// - Throws: ``WebAuthnError/malformed(_:)`` or ``WebAuthnError/tooLarge(_:)``.
    public init(parsing text: some Collection<UInt8>) throws(WebAuthnError) {
        let credential = try CredentialJSON(parsing: text)
        credentialID = credential.id
        clientDataJSON = try credential.bytes(
            "clientDataJSON",
            .clientData,
            bytesMax: CredentialJSON.clientDataBytesMax
        )
        authenticatorData = try credential.bytes(
            "authenticatorData",
            .authenticatorData,
            bytesMax: Self.authenticatorDataBytesMax
        )
        signature = try credential.bytes("signature", .signature, bytesMax: Self.signatureBytesMax)
        userHandle = try Self.userHandle(credential.value("userHandle"))
    }

    private static func userHandle(_ value: JSONValue?) throws(WebAuthnError) -> [UInt8]? {
        guard let value else { return nil }
        let bytes = try CredentialJSON.bytes(value, .userHandle, bytesMax: userHandleBytesMax)
        return bytes.isEmpty ? nil : bytes
    }
}
