/// An attestation object (section 6.5.4): authenticator data, and a statement about the authenticator that is not verified yet.
struct AttestationObject: Sendable {
    /// The maximum length of a format's name in bytes (section 8.1).
    static let formatBytesMax = 32

    /// The authenticator data.
    let authenticatorData: AuthenticatorData
    /// The authenticator data's bytes, which statements sign.
    let authenticatorDataBytes: ArraySlice<UInt8>
    /// The statement's format.
    let format: String
    /// The statement; nil for one of format `compound`.
    let statement: CBORMap?

    /// Reads an object, a CBOR map with the text keys `fmt`, `attStmt` and `authData`. Other text keys are ignored, since
    /// later levels may add some. The statement of format `none` is an empty map (section 8.7); that of another format is any
    /// map, or the array of format `compound`.
    init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        guard let object = try? CBORReader.whole(bytes[...]).map, object.hasOnlyTextKeys,
            let format = object["fmt"]?.text, 1...Self.formatBytesMax ~= format.utf8.count,
            let statement = object["attStmt"], Self.isStatement(statement, format: format),
            let authenticatorData = object["authData"]?.bytes
        else { throw .malformed(.attestationObject) }
        self.authenticatorData = try AuthenticatorData(parsing: authenticatorData)
        authenticatorDataBytes = authenticatorData
        self.format = format
        self.statement = statement.map
    }

    private static func isStatement(_ statement: CBORValue, format: String) -> Bool {
        guard let map = statement.map else {
            return statement.array != nil && format.utf8.elementsEqual("compound".utf8)
        }
        return map.hasOnlyTextKeys && (map.entries.isEmpty || !format.utf8.elementsEqual("none".utf8))
    }
}
