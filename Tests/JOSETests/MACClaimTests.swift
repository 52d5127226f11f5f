import Testing

@testable import JOSE

struct MACClaimTests {
    private let key: SigningKey
    private let keys = [SecureRandom.bytes(32), SecureRandom.bytes(32)]
    private let claims: JSONObject = ["iss": "https://id.example.com", "sub": "somebody", "exp": 1_800_000_000]

    init() throws { key = try SigningKey.generateP256() }

    private func claim(_ key: [UInt8], label: String = "label") -> MACClaim { MACClaim(label: label, key: key) }

    private func tokens(_ claim: MACClaim, of key: SigningKey? = nil, type: String = "at+jwt") -> MACTokens {
        MACTokens(type: type, signedBy: KeySet([key ?? self.key]), claim: claim, bytesMax: 4096)
    }

    private func token(_ claim: MACClaim, type: String = "at+jwt") throws -> String {
        try key.signedToken(claims: claims, encodedHeader: key.encodedHeader(type: type), mac: claim)
    }

    private func payload(_ text: String, _ tokens: MACTokens) -> [UInt8]? { tokens.withPayload(of: text) { Array($0) } }

    @Test func `The last claim is the MAC of every byte before it, and the signature covers it`() throws {
        let text = try token(claim(keys[0]))
        let parts = text.split(separator: ".")
        let payload = try #require(Base64URL.decode(parts[1]))
        let jws = try CompactJWS(parsing: text)
        #expect(try jws.verifiedPayload(with: key.verificationKey) == payload)
        let content = claims.serialized().dropLast()
        let code = SHA256.authenticationCode(of: Array("label\(parts[0]).".utf8) + content, key: keys[0])
        let value = Base64URL.encode(code.prefix(16))
        #expect(
            String(decoding: payload, as: UTF8.self) == String(decoding: content, as: UTF8.self)
                + #","mac":"\#(value)"}"#
        )
        #expect(self.payload(text, tokens(claim(keys[0]))) == payload)
    }

    @Test func `A cached key gives the same code as a new one, again and again`() {
        let kept = HMACKey(keys[0])
        for count in [0, 1, 63, 64, 65, 500, 3000] {
            let text = SecureRandom.bytes(count)
            var code = [UInt8](repeating: 0, count: SHA256.byteCount)
            text.withUnsafeBufferPointer { text in
                let (first, second) = (text[..<(count / 3)], text[(count / 3)..<(count / 2)])
                code.withUnsafeMutableBufferPointer { code in
                    kept.write(
                        UnsafeBufferPointer(rebasing: first),
                        UnsafeBufferPointer(rebasing: second),
                        UnsafeBufferPointer(rebasing: text[(count / 2)...]),
                        into: code
                    )
                }
            }
            #expect(code == SHA256.authenticationCode(of: text, key: keys[0]))
        }
    }

    @Test func `A key recognizes its own tokens only`() throws {
        let text = try token(claim(keys[0]))
        #expect(payload(text, tokens(claim(keys[0]))) != nil)
        #expect(payload(text, tokens(claim(keys[1]))) == nil)
    }

    @Test func `Other labels, types and signing keys are not recognized`() throws {
        let text = try token(claim(keys[0]))
        #expect(payload(text, tokens(claim(keys[0], label: "labe"))) == nil)
        #expect(payload(text, tokens(claim(keys[0]), type: "JWT")) == nil)
        #expect(payload(text, tokens(claim(keys[0]), of: try SigningKey.generateP256())) == nil)
        // The header names the type, so the claim is invalid after another header.
        let parts = text.split(separator: ".")
        let otherHeader = key.encodedHeader(type: "JWT")
        #expect(payload("\(otherHeader).\(parts[1]).\(parts[2])", tokens(claim(keys[0]), type: "JWT")) == nil)
    }

    @Test func `Tokens without the claim, and malformed ones, are not recognized`() throws {
        let known = tokens(claim(keys[0]))
        let plain = try key.signedToken(claims: claims, type: "at+jwt")
        let header = key.encodedHeader(type: "at+jwt")
        let texts = [
            plain, "", ".", "..", header, header + ".", header + "..", header + ".e30.", header + ".e30.AAAA",
            header + ".." + String(repeating: "A", count: 86), header + "." + String(repeating: "A", count: 86),
            try token(claim(keys[0])) + String(repeating: "A", count: 4096),
        ]
        for text in texts { #expect(payload(text, known) == nil) }
    }

    @Test func `A signature has the length for its key, and one spelling`() throws {
        let rsa = try SigningKey.generateRSA2048()
        for (key, count) in [(key, 86), (rsa, 342)] {
            let text = try key.signedToken(
                claims: claims,
                encodedHeader: key.encodedHeader(type: "at+jwt"),
                mac: claim(keys[0])
            )
            let known = tokens(claim(keys[0]), of: key)
            let start = text.prefix(through: try #require(text.lastIndex(of: ".")))
            #expect(payload(start + String(repeating: "A", count: count), known) != nil)
            for other in ["", "A", String(repeating: "A", count: count - 1), String(repeating: "A", count: count + 1)] {
                #expect(payload(start + other, known) == nil)
            }
            for last in ["B", "=", ".", "+", " ", "\n", "ü"] {
                #expect(payload(start + String(repeating: "A", count: count - 1) + last, known) == nil)
            }
        }
    }

    @Test func `It never prints the key`() {
        #expect("\(claim(keys[0]))" == "MACClaim")
    }

    @Test func `Base64url of a given length is distinguished from all other texts`() {
        for count in 0...6 {
            for _ in 0..<50 {
                let text = Base64URL.encode(SecureRandom.bytes(count))
                #expect(Array(text.utf8).withUnsafeBufferPointer { Base64URL.isText($0, ofBytes: count) })
                for position in text.utf8.indices {
                    var bytes = Array(text.utf8)
                    let index = text.utf8.distance(from: text.startIndex, to: position)
                    for byte in UInt8.min...UInt8.max {
                        bytes[index] = byte
                        let isText = bytes.withUnsafeBufferPointer { Base64URL.isText($0, ofBytes: count) }
                        #expect(isText == (Base64URL.decode(utf8: bytes)?.count == count))
                    }
                }
            }
        }
    }
}
