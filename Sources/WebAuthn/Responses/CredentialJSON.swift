import JOSE

/// The JSON text of a credential, as `PublicKeyCredential.toJSON()` of browsers, Android's Credential Manager, and apps for iOS by
/// hand make it (section 5.1): what both kinds of responses have. Members that are not named here are ignored: browsers add some,
/// and later levels will.
struct CredentialJSON {
    /// The maximum length of the text in bytes.
    static let bytesMax = 64 * 1024
    /// The maximum length of a credential's id in bytes (section 4, "Credential ID").
    static let idBytesMax = 1023
    /// The maximum length of client data in bytes. Browsers send some 150 to 400.
    static let clientDataBytesMax = 8 * 1024

    /// The credential's id.
    let id: [UInt8]
    /// The member `response`.
    private let response: JSONObject

    /// Reads a text: `type` is `public-key`, and `id` and `rawId` are the same, of which one may be missing.
    init(parsing text: some Collection<UInt8>) throws(WebAuthnError) {
        let credential: JSONObject
        do {
            credential = try JSONObject(parsing: text, limits: JSONLimits(bytesMax: Self.bytesMax))
        } catch .tooLarge {
            throw .tooLarge(.response)
        } catch {
            throw .malformed(.response)
        }
        guard credential["type"]?.string?.utf8.elementsEqual("public-key".utf8) == true,
            let response = credential["response"]?.object
        else { throw .malformed(.response) }
        let texts = [credential["rawId"], credential["id"]].compactMap(\.self)
        var ids: [[UInt8]] = []
        for text in texts { ids.append(try Self.bytes(text, .credentialID, bytesMax: Self.idBytesMax)) }
        guard let id = ids.first, !id.isEmpty, ids.allSatisfy({ $0 == id }) else { throw .malformed(.credentialID) }
        self.id = id
        self.response = response
    }

    /// The bytes of a member of `response`.
    func bytes(
        _ name: String,
        _ part: WebAuthnError.Part,
        bytesMax: Int
    ) throws(WebAuthnError) -> [UInt8] {
        guard let value = response[name] else { throw .malformed(part) }
        return try Self.bytes(value, part, bytesMax: bytesMax)
    }

    /// A member of `response`; nil if it is null or missing.
    func value(_ name: String) -> JSONValue? {
        response[name].flatMap { $0 == .null ? nil : $0 }
    }

    /// The bytes of base64url without padding, as all binary members are written (section 5.1, `Base64URLString`).
    static func bytes(
        _ value: JSONValue,
        _ part: WebAuthnError.Part,
        bytesMax: Int
    ) throws(WebAuthnError) -> [UInt8] {
        guard let text = value.string else { throw .malformed(part) }
        guard text.utf8.count <= Base64URL.characterCount(of: bytesMax) else { throw .tooLarge(part) }
        guard let bytes = Base64URL.decode(text) else { throw .malformed(part) }
        return bytes
    }
}
