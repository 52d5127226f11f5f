import JOSE
import Testing

/// Public keys in DER.
struct KeyDERTests {
    private static func der(_ key: VerificationKey) throws -> [UInt8] {
        let lines = try key.pem().split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let text = lines.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" }
        return try #require(Base64URL.decode(text))
    }

    @Test func `A key is read as it was written`() throws {
        for key in [try SigningKey.generateP256(), try .generateRSA2048()].map(\.verificationKey) {
            let read = try VerificationKey(publicKeyInfo: Self.der(key))
            #expect(read.thumbprint == key.thumbprint && read.type == key.type)
            #expect((read.uncompressedPoint == nil) == (key.type == .rsa))
        }
    }

    @Test func `The uncompressed point is 4 and the coordinates, as in the key's DER`() throws {
        let key = try SigningKey.generateP256().verificationKey
        let point = try #require(key.uncompressedPoint)
        #expect(point.count == 65 && point[0] == 4)
        #expect(try Self.der(key).suffix(65) == point[...])
    }

    @Test func `A key cut at any byte, one with a byte behind it, and a long one are rejected`() throws {
        let der = try Self.der(SigningKey.generateP256().verificationKey)
        for bytes in der.indices.map({ Array(der[..<$0]) }) + [
            der + [0], [UInt8](repeating: 0, count: VerificationKey.derBytesMax + 1),
        ] {
            #expect(throws: KeyError.malformed) { try VerificationKey(publicKeyInfo: bytes) }
        }
    }

    @Test func `A key of another kind is rejected`() throws {
        // Ed25519: RFC 8410 section 10.1.
        let bytes = try #require(Base64URL.decode("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"))
        #expect(throws: KeyError.unsupported) { try VerificationKey(publicKeyInfo: bytes) }
    }
}
