import JOSE

/// What a client sends at a registration, parsed and not yet verified: `RegistrationResponseJSON` of section 5.1.
public struct RegistrationResponse: Sendable {
    /// The maximum length of the text in bytes.
    public static let bytesMax = CredentialJSON.bytesMax
    /// The maximum length of an attestation object in bytes. Chains of certificates make the longest, of some 10 KiB.
    public static let attestationObjectBytesMax = 32 * 1024
    /// The maximum of transports that are kept.
    public static let transportsMax = 8

    /// The id of the credential, 1 to 1023 bytes.
    public let credentialID: [UInt8]
    /// How the client reaches the authenticator, such as `internal` or `hybrid` (section 5.8.4): words of 1 to 32 letters a to z and
    /// hyphens, the first ``transportsMax`` of them. Others are dropped. A hint for later, which nothing proves.
    public let transports: [String]

    let clientDataJSON: [UInt8]
    let attestationObject: [UInt8]

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
        attestationObject = try credential.bytes(
            "attestationObject",
            .attestationObject,
            bytesMax: Self.attestationObjectBytesMax
        )
        transports = try Self.transports(credential.value("transports"))
    }

    private static func transports(_ value: JSONValue?) throws(WebAuthnError) -> [String] {
        guard let value else { return [] }
        guard let elements = value.array else { throw .malformed(.response) }
        return Array(elements.lazy.compactMap(\.string).filter(isTransport).prefix(transportsMax))
    }

    private static func isTransport(_ text: String) -> Bool {
        1...32 ~= text.utf8.count
            && text.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0 == UInt8(ascii: "-") }
    }
}
