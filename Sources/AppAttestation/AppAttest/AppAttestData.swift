import Bytes
import WebAuthn

/// Authenticator data as App Attest writes it: like WebAuthn's (Level 3, section 6.1), but its flags don't say what follows. An
/// assertion has the flag AT and no credential; an attestation of iOS 26 has extensions without the flag ED. So the kind of object
/// says what must follow, and the flags are ignored.
struct AppAttestData {
    /// What an attestation says of its key.
    struct Credential {
        /// The environment, 16 bytes.
        let aaguid: ArraySlice<UInt8>
        /// The key's identifier.
        let id: ArraySlice<UInt8>
        /// The COSE_Key.
        let publicKey: CBORMap
    }

    /// The SHA-256 of the app's identifier.
    let appIDHash: ArraySlice<UInt8>
    /// The number of assertions that the key made.
    let counter: UInt32

    private var reader: ByteReader<AppAttestError>

    private init(_ bytes: ArraySlice<UInt8>) throws(AppAttestError) {
        reader = ByteReader(bytes, truncated: .malformed(.authenticatorData))
        appIDHash = try reader.take(32)
        _ = try reader.byte()
        counter = try reader.integer()
    }

    /// Reads the authenticator data of an attestation.
    static func ofAttestation(
        _ bytes: ArraySlice<UInt8>
    ) throws(AppAttestError) -> (data: AppAttestData, credential: Credential) {
        var data = try AppAttestData(bytes)
        let aaguid = try data.reader.take(16)
        let id = try data.reader.take(Int(try data.reader.integer(UInt16.self)))
        let credential = Credential(aaguid: aaguid, id: id, publicKey: try data.map())
        try data.finish()
        return (data, credential)
    }

    /// Reads the authenticator data of an assertion.
    static func ofAssertion(_ bytes: ArraySlice<UInt8>) throws(AppAttestError) -> AppAttestData {
        var data = try AppAttestData(bytes)
        try data.finish()
        return data
    }

    /// Reads extensions, if something is left. What they say was not asked for; only their form is checked.
    private mutating func finish() throws(AppAttestError) {
        if reader.isAtEnd { return }
        guard try map().hasOnlyTextKeys, reader.isAtEnd else { throw .malformed(.authenticatorData) }
    }

    private mutating func map() throws(AppAttestError) -> CBORMap {
        var items = CBORReader(reader.bytes[reader.position...])
        guard let map = try? items.value().map else { throw .malformed(.authenticatorData) }
        _ = try reader.take(items.position - reader.position)
        return map
    }
}
