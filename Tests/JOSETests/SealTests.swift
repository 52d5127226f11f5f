import Testing

@testable import JOSE

struct SealTests {
    private static let secret = Array("the secret of a sign-in".utf8)

    @Test func `A sealed value opens only with the same secret, label and associated data`() throws {
        let plain = Array("ID token".utf8)
        let sealed = Seal.seal(plain, secret: Self.secret, label: "a", associatedData: [1, 2])
        #expect(sealed.count == plain.count + Seal.overheadByteCount)
        #expect(Seal.open(sealed, secret: Self.secret, label: "a", associatedData: [1, 2]) == plain)
        #expect(Seal.open(sealed, secret: Self.secret + [0], label: "a", associatedData: [1, 2]) == nil)
        #expect(Seal.open(sealed, secret: Self.secret, label: "b", associatedData: [1, 2]) == nil)
        #expect(Seal.open(sealed, secret: Self.secret, label: "a", associatedData: [1, 3]) == nil)
        #expect(Seal.open(sealed, secret: Self.secret, label: "a") == nil)
    }

    @Test func `Each changed bit and each cut is noticed`() throws {
        let sealed = Seal.seal(Array("plain".utf8), secret: Self.secret, label: "a")
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(Seal.open(changed, secret: Self.secret, label: "a") == nil)
            }
            #expect(Seal.open(Array(sealed.prefix(index)), secret: Self.secret, label: "a") == nil)
        }
        #expect(Seal.open(sealed + [0], secret: Self.secret, label: "a") == nil)
    }

    @Test func `The same text is never sealed to the same bytes`() throws {
        let sealed = (0..<100).map { _ in Seal.seal([1], secret: Self.secret, label: "a") }
        #expect(Set(sealed).count == sealed.count)
    }

    @Test func `Nothing can be sealed, and much`() throws {
        for count in [0, 1, 15, 16, 17, 100_000] {
            let plain = SecureRandom.bytes(count)
            let sealed = Seal.seal(plain, secret: Self.secret, label: "a")
            #expect(Seal.open(sealed, secret: Self.secret, label: "a") == plain)
        }
    }

    /// Test case 16 of "The Galois/Counter Mode of Operation" (McGrew and Viega), from which NIST SP 800-38D came.
    @Test func `Seals as the AES-256-GCM test case 16 says`() throws {
        let key = Self.bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let nonce = Self.bytes("cafebabefacedbaddecaf888")
        let plain = Self.bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0d"
                + "e657ba637b39"
        )
        let associatedData = Self.bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let sealed = Seal.seal(plain, key: key, nonce: nonce, associatedData: associatedData)
        #expect(
            Hex.encode(sealed)
                == "cafebabefacedbaddecaf888522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb"
                + "3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
        )
        #expect(Seal.open(sealed, key: key, associatedData: associatedData) == plain)
    }

    /// Made by the Python package `cryptography` 48.0.0: its HKDF with SHA-256 and its AESGCM.
    @Test func `Opens what another implementation sealed`() throws {
        let sealed = Self.bytes(
            "000102030405060708090a0b3a1acef8ba2d2449cf4bdc4508abe70b1c94f9cf1942c6567798af8299562bc9"
        )
        let plain = Seal.open(
            sealed,
            secret: Self.secret,
            label: "vestibule test 1",
            associatedData: Array("row 7".utf8)
        )
        #expect(plain == Array("Jørgen, née Ñ".utf8))
        let empty = Self.bytes("000102030405060708090a0b9d5351b09cc3517d0cad5ea69fda2eea")
        #expect(Seal.open(empty, secret: Self.secret, label: "vestibule test 1") == [])
    }

    @Test func `Makes the keys of RFC 5869, appendix A.1 to A.3`() throws {
        let first = HKDF.key(
            from: [UInt8](repeating: 0x0b, count: 22),
            salt: Array(0x00...0x0c),
            label: Array(0xf0...0xf9),
            byteCount: 42
        )
        #expect(
            Hex.encode(first)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )
        let long = HKDF.key(
            from: Array(0x00...0x4f),
            salt: Array(0x60...0xaf),
            label: Array(0xb0...0xff),
            byteCount: 82
        )
        #expect(
            Hex.encode(long)
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da327560"
                + "0c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        )
        let bare = HKDF.key(from: [UInt8](repeating: 0x0b, count: 22), label: [], byteCount: 42)
        #expect(
            Hex.encode(bare) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        )
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
