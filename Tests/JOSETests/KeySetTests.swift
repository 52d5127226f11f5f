import JOSE
import Testing

struct KeySetTests {
    @Test func `Finds keys by ID and algorithm only`() throws {
        let rsa = try SigningKey.generateRSA2048(keyID: "r")
        let ec = try SigningKey.generateP256(keyID: "e")
        let set = try KeySet(parsing: KeySet([rsa, ec]).json.serialized())
        #expect(set.entries.map(\.keyID) == ["r", "e"])
        #expect(set.key(id: "r", algorithm: .rs256)?.thumbprint == rsa.verificationKey.thumbprint)
        #expect(set.key(id: "e", algorithm: .es256)?.thumbprint == ec.verificationKey.thumbprint)
        #expect(set.key(id: "r", algorithm: .rs512) == nil)
        #expect(set.key(id: "r", algorithm: .es256) == nil)
        #expect(set.key(id: "x", algorithm: .rs256) == nil)
    }

    @Test func `Passes over keys that are of no use`() throws {
        let good = try SigningKey.generateP256(keyID: "good").publicJWK
        var encryption = good
        encryption["use"] = "enc"
        var nameless = good
        nameless["kid"] = nil
        var otherAlgorithm = good
        otherAlgorithm["alg"] = "RS256"
        var unknownAlgorithm = good
        unknownAlgorithm["alg"] = "ECDH-ES"
        var operations = good
        operations["key_ops"] = ["sign"]
        let symmetric: JSONObject = ["kty": "oct", "k": "AAAA", "kid": "good"]
        let elements = [encryption, nameless, otherAlgorithm, unknownAlgorithm, operations, symmetric]
        let set = try KeySet(parsing: Self.text(elements + [good]))
        #expect(set.entries.map(\.keyID) == ["good"])
        #expect(throws: KeySetError.noUsableKey) { try KeySet(parsing: Self.text(elements)) }
    }

    @Test func `A key without an algorithm serves those of its kind`() throws {
        var jwk = try SigningKey.generateRSA2048(keyID: "r").publicJWK
        jwk["alg"] = nil
        jwk["use"] = nil
        let set = try KeySet(parsing: Self.text([jwk]))
        #expect(set.key(id: "r", algorithm: .rs256) != nil)
        #expect(set.key(id: "r", algorithm: .ps256) != nil)
        #expect(set.key(id: "r", algorithm: .es256) == nil)
    }

    @Test func `Refuses documents that are no key set`() throws {
        let jwk = try SigningKey.generateP256().publicJWK
        #expect(throws: KeySetError.malformed) { try KeySet(parsing: "{}".utf8) }
        #expect(throws: KeySetError.malformed) { try KeySet(parsing: #"{"keys":[1]}"#.utf8) }
        #expect(throws: KeySetError.json(.notAnObject)) { try KeySet(parsing: "[]".utf8) }
        #expect(throws: KeySetError.noUsableKey) { try KeySet(parsing: #"{"keys":[]}"#.utf8) }
        #expect(throws: KeySetError.tooManyKeys) {
            try KeySet(parsing: Self.text(Array(repeating: jwk, count: KeySet.keysMax + 1)))
        }
    }

    private static func text(_ elements: [JSONObject]) -> [UInt8] {
        (["keys": .array(elements.map { .object($0) })] as JSONObject).serialized()
    }
}
