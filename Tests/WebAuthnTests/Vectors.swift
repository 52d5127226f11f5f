import Foundation
import JOSE
import Testing
import WebAuthn

/// The file that `oracle.py` makes.
enum Vectors {
    private static let file = Result {
        try JSONObject(
            parsing: Data(contentsOf: Bundle.module.bundleURL.appending(path: "vectors.json")),
            limits: JSONLimits(bytesMax: 1024 * 1024, valuesMax: 100_000)
        )
    }

    /// A member of the file.
    static func member(_ name: String) throws -> JSONValue { try #require(file.get()[name]) }

    /// The vectors of a kind.
    static func all(_ kind: String) throws -> [JSONObject] {
        try #require(member(kind).array).map { try #require($0.object) }
    }

    /// The vector of that name.
    static func named(_ name: String, of kind: String) throws -> JSONObject {
        try #require(all(kind).first { $0["name"]?.string == name })
    }

    /// The bytes of base64url.
    static func bytes(_ value: JSONValue?) throws -> [UInt8] {
        try #require(value?.string.flatMap { Base64URL.decode($0) })
    }

    /// The relying party of a vector.
    static func relyingParty(of vector: JSONObject) throws -> RelyingParty {
        try RelyingParty(
            id: #require(member("rpID").string),
            origins: [#require(member("origin").string)],
            userVerification: vector["isUserVerificationRequired"] == true ? .required : .preferred
        )
    }

    /// What a relying party stored before a vector's sign-in.
    static func storedPasskey(of vector: JSONObject) throws -> StoredPasskey {
        let stored = try #require(vector["passkey"]?.object)
        return StoredPasskey(
            publicKey: try bytes(stored["publicKey"]),
            signCount: UInt32(try #require(stored["signCount"]?.integer)),
            isBackupEligible: try #require(stored["isBackupEligible"]?.bool as Bool?)
        )
    }
}
