import Certificates
import Foundation
import JOSE
import Testing
import WebAuthn

/// The file that `attestation_oracle.py` makes.
enum AttestationVectors {
    private static let file = Result {
        try JSONObject(
            parsing: Data(contentsOf: Bundle.module.bundleURL.appending(path: "attestation-vectors.json")),
            limits: JSONLimits(bytesMax: 4 * 1024 * 1024, valuesMax: 100_000)
        )
    }

    /// The time of the vectors, in seconds since 1970.
    static let now = 1_798_761_600

    /// A text of the file.
    static func text(_ name: String) throws -> String { try #require(file.get()[name]?.string) }

    /// The vectors of a kind.
    static func all(_ kind: String) throws -> [JSONObject] {
        try #require(file.get()[kind]?.array).map { try #require($0.object) }
    }

    /// What certifies the signer of metadata.
    static func roots() throws -> TrustAnchors {
        let der = try #require(Base64URL.decode(text("root")))
        return try #require(TrustAnchors([Certificate(der: der)]))
    }

    /// The metadata of the registrations.
    static func metadata() throws -> MetadataBlob {
        try MetadataBlob(parsing: Array(text("metadata").utf8), roots: roots(), now: now)
    }

    /// The relying party of the registrations.
    static func relyingParty() throws -> RelyingParty {
        try RelyingParty(id: text("rpID"), origins: [text("origin")], userVerification: .required)
    }
}
