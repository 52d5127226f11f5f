import Testing

@testable import JOSE

/// Keys that are wrapped, and texts that are encrypted. Whole tokens are those of `AppAttestationTests`.
struct CompactJWETests {
    private static let wrapping = [UInt8](0..<32)

    @Test(arguments: [
        ("64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7", "00112233445566778899aabbccddeeff"),
        (
            "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1",
            "00112233445566778899aabbccddeeff0001020304050607"
        ),
        (
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
            "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"
        ),
    ])
    func `Unwraps RFC 3394, sections 4.3, 4.5 and 4.6`(wrapped: String, key: String) throws {
        let bytes = try #require(Hex.decode(wrapped))
        #expect(AESKeyWrap.unwrap(bytes, key: Self.wrapping) == Hex.decode(key))
        #expect(AESKeyWrap.unwrap(bytes, key: [UInt8](1...32)) == nil)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(AESKeyWrap.unwrap(changed, key: Self.wrapping) == nil)
        }
    }

    @Test func `Impossible lengths are rejected`() {
        for count in [0, 8, 16, 23, 25, 41, 80, 1024] {
            #expect(AESKeyWrap.unwrap([UInt8](repeating: 1, count: count), key: Self.wrapping) == nil)
        }
        #expect(AESKeyWrap.unwrap([UInt8](repeating: 1, count: 40), key: [UInt8](0..<16)) == nil)
    }

    @Test func `Opens the content of RFC 7516, appendix A.1`() throws {
        let header = Array("eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ".utf8)
        let key: [UInt8] = [
            177, 161, 244, 128, 84, 143, 225, 115, 63, 180, 3, 255, 107, 154, 212, 246, 138, 7, 110, 91, 112, 46, 34,
            105, 47, 130, 203, 46, 122, 234, 64, 252,
        ]
        let content = "5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A"
        let parts = try ["48V1_ALb6US04U3b", content, "XFBoMYUZodetZdvTiFvSkQ"].map {
            try #require(Base64URL.decode($0))
        }
        let plain = Seal.open(parts.flatMap(\.self), key: key, associatedData: header)
        #expect(
            plain.map { String(decoding: $0, as: UTF8.self) }
                == "The true sign of intelligence is not knowledge but imagination."
        )
    }

    @Test(arguments: [
        "", ".", "....", "a.b.c.d", "e30....", "e30.AA.AA.AA.AA", "W10.AA.AA.AA.AA", "eyJhbGciOjF9.AA.AA.AA.AA",
    ])
    func `What is no JWE is rejected`(text: String) {
        #expect(throws: JWEError.malformed) { try CompactJWE(parsing: text) }
    }

    @Test func `A text is as long as the caller says at most`() {
        #expect(throws: JWEError.tooLarge) { try CompactJWE(parsing: "....", bytesMax: 3) }
    }

    @Test(
        arguments: [("", []), ("AA==", [0]), ("AAE=", [0, 1]), ("+/+/", [0xfb, 0xff, 0xbf])] as [(String, [UInt8])]
    )
    func `Base64 is read with padding`(text: String, bytes: [UInt8]) {
        #expect(StandardBase64.decode(text) == bytes)
    }

    @Test(arguments: ["A", "AA", "AAE", "AA=", "A===", "====", "AB==", "AAF=", "-_-_", "AA==AAAA", "AAA\n", "AA=A"])
    func `Other base64 is rejected`(text: String) {
        #expect(StandardBase64.decode(text) == nil)
    }
}
