import JOSE
import Testing

struct Ed25519KeyTests {
    /// RFC 8032, section 7.1, tests 1 to 3.
    static let vectors: [(key: String, message: String, signature: String)] = [
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
                + "655141438e7a100b"
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
                + "b00d291612bb0c00"
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28d"
                + "c027beceea1ec40a"
        ),
    ]

    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }

    @Test(arguments: vectors)
    func `The RFC's signatures verify, and no bit of them may change`(
        key: String,
        message: String,
        signature: String
    ) throws {
        let verifier = try Ed25519Key(Self.bytes(key))
        let (message, signature) = (try Self.bytes(message), try Self.bytes(signature))
        #expect(verifier.verifies(signature, of: message))
        #expect(!verifier.verifies(signature, of: message + [0]))
        for index in signature.indices {
            var tampered = signature
            tampered[index] ^= 0x80
            #expect(!verifier.verifies(tampered, of: message))
        }
        for wrong in [[], [0], Array(signature.dropLast()), signature + [0]] {
            #expect(!verifier.verifies(wrong, of: message))
        }
    }

    @Test func `The order of the group may not be added to a signature`() throws {
        // S + L verifies where S isn't compared with L (RFC 8032 section 5.1.7).
        let order = try Self.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        let (key, message, signature) = Self.vectors[1]
        var bytes = try Self.bytes(signature)
        var carry = 0
        for index in 0..<32 {
            let sum = Int(bytes[32 + index]) + Int(order[index]) + carry
            bytes[32 + index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
        #expect(carry == 0)
        #expect(try !Ed25519Key(Self.bytes(key)).verifies(bytes, of: Self.bytes(message)))
    }

    /// With these a signature of zeros, or one that is made without a key, can be valid for any message.
    @Test func `Points of small order are rejected, with either sign and in either spelling`() throws {
        let small = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            // p, p + 1, and the largest: second spellings of 0, 1 and 18.
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
        for text in small {
            var bytes = try Self.bytes(text)
            #expect(throws: KeyError.malformed, "\(text)") { try Ed25519Key(bytes) }
            bytes[31] |= 0x80
            #expect(throws: KeyError.malformed, "\(text)") { try Ed25519Key(bytes) }
        }
    }

    /// The list is by the recovery of x in RFC 8032 section 5.1.3, computed elsewhere.
    @Test func `Bytes that encode no point are rejected`() {
        let points = (2...16).filter { y in
            (try? Ed25519Key([UInt8(y)] + [UInt8](repeating: 0, count: 31))) != nil
        }
        #expect(points == [3, 4, 5, 6, 9, 10, 14, 15, 16])
        for count in [0, 31, 33, 64] {
            #expect(throws: KeyError.malformed) { try Ed25519Key([UInt8](repeating: 9, count: count)) }
        }
    }

    /// Providers' tokens, key sets and keys in PEM know nothing of it.
    @Test func `No token is signed with it`() throws {
        let header = Base64URL.encode(#"{"alg":"EdDSA","kid":"k"}"#.utf8)
        let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))
        #expect(throws: JWSError.unsupportedAlgorithm) { try CompactJWS(parsing: header + ".e30." + signature) }
        for name in ["EdDSA", "Ed25519", "ES256K", "ESP256"] { #expect(SignatureAlgorithm(rawValue: name) == nil) }
        let x = Base64URL.encode(try Self.bytes(Self.vectors[0].key))
        let jwk: JSONObject = ["kty": "OKP", "crv": "Ed25519", "x": .string(x), "kid": "k", "alg": "EdDSA"]
        #expect(throws: KeyError.unsupported) { try VerificationKey(jwk: jwk) }
        let set: JSONObject = ["keys": [.object(jwk)]]
        #expect(throws: KeySetError.noUsableKey) { try KeySet(parsing: set.serialized()) }
        #expect(throws: KeyError.unsupported) { try SigningKey(pem: Fixtures.ed25519PEM) }
        let publicPEM = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
            -----END PUBLIC KEY-----
            """
        #expect(throws: KeyError.unsupported) { try VerificationKey(pem: publicPEM) }
    }
}
