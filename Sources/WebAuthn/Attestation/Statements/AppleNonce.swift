import Bytes
import Certificates

/// The nonce in Apple's certificates, of WebAuthn (section 8.8) and of App Attest.
package enum AppleNonce {
    private static let identifier = "1.2.840.113635.100.8.2"

    /// The nonce, in an extension that is SEQUENCE { [1] EXPLICIT OCTET STRING } and nothing else; nil if there is none.
    package static func of(_ certificate: Certificate) -> [UInt8]? {
        certificate.extension(identifier).flatMap { try? read($0.value) }
    }

    private static func read(_ value: [UInt8]) throws(DERError) -> [UInt8] {
        var reader = DERReader(value)
        var sequence = try reader.elements(.sequence)
        try reader.finish()
        var tagged = try sequence.elements(.explicit(1))
        try sequence.finish()
        let nonce = try tagged.content(.octetString)
        try tagged.finish()
        return Array(nonce)
    }
}
