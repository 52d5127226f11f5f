import JOSE
import Testing

struct KeyTests {
    @Test func `Generated keys sign and come back from PEM`() throws {
        for key in [try SigningKey.generateP256(), try SigningKey.generateRSA2048()] {
            let message = Array("message".utf8)
            let again = try SigningKey(pem: key.pem())
            #expect(again.keyID == key.keyID)
            #expect(again.algorithm == key.algorithm)
            let signature = try again.sign(message)
            #expect(key.verificationKey.verifies(signature, of: message, algorithm: key.algorithm))
            #expect(!key.verificationKey.verifies(signature, of: Array("massage".utf8), algorithm: key.algorithm))
            #expect("\(key)" == "SigningKey(\(key.keyID))")
        }
    }

    @Test func `Every flipped bit of an EC signature is refused`() throws {
        let key = try SigningKey.generateP256()
        let message = Array("message".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == 64)
        for index in signature.indices {
            var tampered = signature
            tampered[index] ^= 1
            #expect(!key.verificationKey.verifies(tampered, of: message, algorithm: .es256))
        }
        for length in [0, 1, 63, 65, 128] {
            let wrong = [UInt8](repeating: 1, count: length)
            #expect(!key.verificationKey.verifies(wrong, of: message, algorithm: .es256))
        }
        // Zero is no value for r or s (FIPS 186-5 section 6.4.2).
        #expect(!key.verificationKey.verifies([UInt8](repeating: 0, count: 64), of: message, algorithm: .es256))
    }

    @Test func `Raw signatures have a fixed length whatever the numbers`() throws {
        // One in 128 has a leading zero byte in r or s, which DER leaves out.
        let key = try SigningKey.generateP256()
        for number in 0..<600 {
            let message = Array("\(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.verificationKey.verifies(signature, of: message, algorithm: .es256))
        }
    }

    @Test func `Algorithms do not stand in for each other`() throws {
        let key = try SigningKey.generateRSA2048()
        let message = Array("message".utf8)
        let signature = try key.sign(message)
        for algorithm in SignatureAlgorithm.allCases {
            #expect(
                key.verificationKey.verifies(signature, of: message, algorithm: algorithm) == (algorithm == .rs256)
            )
        }
    }

    @Test func `Reads foreign PEM`() throws {
        let key = try SigningKey(pem: Fixtures.p384PEM)
        #expect(key.algorithm == .es384)
        let message = Array("message".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == 96)
        #expect(key.verificationKey.verifies(signature, of: message, algorithm: .es384))
    }

    @Test(arguments: [Fixtures.weakPEM, Fixtures.ed25519PEM, Fixtures.encryptedPEM, "", "nonsense"])
    func `Refuses PEM of other things`(pem: String) {
        #expect(throws: KeyError.self) { try SigningKey(pem: pem) }
    }

    @Test func `A public JWK holds nothing private`() throws {
        let key = try SigningKey.generateP256()
        #expect(Set(key.publicJWK.members.map(\.name)) == ["kty", "crv", "x", "y", "kid", "alg", "use"])
        #expect(try VerificationKey(jwk: key.publicJWK).thumbprint == key.keyID)
        let rsa = try SigningKey.generateRSA2048()
        #expect(Set(rsa.publicJWK.members.map(\.name)) == ["kty", "n", "e", "kid", "alg", "use"])
    }

    @Test func `Refuses a bad JWK`() throws {
        let ec = try SigningKey.generateP256().publicJWK
        let rsa = try SigningKey.generateRSA2048().publicJWK
        func with(_ jwk: JSONObject, _ name: String, _ value: JSONValue?) -> JSONObject {
            var jwk = jwk
            jwk[name] = value
            return jwk
        }
        let small = Base64URL.encode([UInt8](repeating: 0xff, count: 128))
        let large = Base64URL.encode([UInt8](repeating: 0xff, count: 1100))
        let refused: [JSONObject] = [
            with(ec, "x", ec["y"]), with(ec, "x", "AAAA"), with(ec, "x", nil), with(ec, "crv", "P-521"),
            with(ec, "x", .string(Base64URL.encode([UInt8](repeating: 0, count: 33)))),
            with(ec, "kty", "oct"), with(ec, "kty", nil), with(rsa, "n", .string(small)),
            with(rsa, "n", .string(large)),
            with(rsa, "n", "not base64!"), with(rsa, "e", "AQ"), with(rsa, "e", "Ag"), with(rsa, "e", "AQAAAAAB"),
            with(rsa, "e", ""), with(rsa, "e", 65537),
        ]
        for jwk in refused {
            #expect(throws: KeyError.self) { try VerificationKey(jwk: jwk) }
        }
    }

    @Test func `A public PEM verifies and signs nothing`() throws {
        for key in [try SigningKey.generateP256(), try SigningKey.generateRSA2048()] {
            let pem = try key.verificationKey.pem()
            let message = Array("message".utf8)
            let again = try VerificationKey(pem: pem)
            #expect(again.thumbprint == key.keyID)
            #expect(again.signingAlgorithm == key.algorithm)
            #expect(try again.verifies(key.sign(message), of: message, algorithm: key.algorithm))
            #expect(throws: KeyError.malformed) { try SigningKey(pem: pem) }
            #expect(throws: KeyError.malformed, "a private key is not what was asked for") {
                try VerificationKey(pem: key.pem())
            }
        }
        #expect(throws: KeyError.malformed) { try VerificationKey(pem: "") }
    }

    @Test(arguments: Fixtures.guessableModuli)
    func `A modulus whose primes can be found is refused`(modulus: String) {
        #expect(throws: KeyError.guessablePrimes) {
            try VerificationKey(jwk: ["kty": "RSA", "n": .string(modulus), "e": "AQAB"])
        }
        let set = #"{"keys":[{"kty":"RSA","kid":"k","e":"AQAB","n":"\#(modulus)"}]}"#
        #expect(throws: KeySetError.noUsableKey) { try KeySet(parsing: set.utf8) }
    }

    /// The fingerprint says something only of numbers that no small prime divides, as no modulus is divided by one.
    @Test func `Other moduli are accepted`() throws {
        for _ in 0..<24 { _ = try SigningKey.generateRSA2048() }
        let primes = (3...167).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }
        var count = 0
        while count < 1_000 {
            var modulus = SecureRandom.bytes(256)
            modulus[0] |= 0x80
            modulus[255] |= 1
            guard primes.allSatisfy({ prime in modulus.reduce(0) { ($0 << 8 | Int($1)) % prime } != 0 }) else {
                continue
            }
            count += 1
            _ = try VerificationKey(modulus: modulus, exponent: [1, 0, 1])
        }
    }

    @Test func `Random bytes differ`() {
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(SecureRandom.bytes(0).isEmpty)
        var generator = SecureRandom()
        #expect(generator.next() != generator.next() as UInt64)
    }

    @Test func `Texts are compared whole`() {
        #expect(ConstantTime.areEqual("abc", "abc"))
        #expect(!ConstantTime.areEqual("abc", "abd"))
        #expect(!ConstantTime.areEqual("abc", "ab"))
        #expect(ConstantTime.areEqual("", ""))
    }
}
