import Foundation
import Testing

@testable import VestibuleClient

struct SignInTests {
    /// FIPS 180-4's examples, and lengths at which the padding takes another block.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `SHA-256 is that of FIPS 180-4`(message: String, digest: String) {
        let found = SHA256Hash.digest(Array(message.utf8))
        #expect(found.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == digest)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 14] as [Int32])
    func `A proof of work has the zero bits`(bits: Int32) async throws {
        for challenge in ["a", String(repeating: "b", count: 55)] {
            let proof = try await GuestWork.proof(challenge, bits: bits)
            let found = try #require(Int(proof.dropFirst(challenge.count + 1)))
            #expect(proof == "\(challenge).\(found)")
            let hash = SHA256Hash.digest(Array(proof.utf8))
            #expect(
                (UInt32(hash[0]) << 24 | UInt32(hash[1]) << 16 | UInt32(hash[2]) << 8).leadingZeroBitCount >= Int(bits)
            )
            // The numbers are tried in turn.
            for number in 0..<found {
                #expect(GuestWork.zeroBits(SHA256Hash.digest(Array("\(challenge).\(number)".utf8))) < Int(bits))
            }
        }
    }

    @Test func `A proof of work ends with its task`() async {
        let work = Task { try await GuestWork.proof("a", bits: 64) }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
    }

    @Test func `A nonce is new each time, and Apple gets its hash`() {
        let nonce = SignInNonce()
        #expect(nonce.raw.count == 43)
        #expect(nonce != SignInNonce())
        #expect(SignInNonce(raw: "abc").sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    private static let issuer = "https://id.example.com"

    private static func code(_ query: String) throws -> String {
        try HostedAnswer(#require(URL(string: "com.example.app:/callback?\(query)"))).code(issuer: issuer)
    }

    @Test func `A page's answer is the code, an error, or that the user turned back`() throws {
        let issuer = "iss=https%3A%2F%2Fid.example.com"
        #expect(try Self.code("code=abc&state=s&\(issuer)") == "abc")
        for (query, code) in [
            ("code=abc&state=s", "WEB_STATE_INVALID"),
            ("code=abc&iss=https%3A%2F%2Fother.example", "WEB_STATE_INVALID"),
            ("error=access_denied&state=s&\(issuer)", "CANCELLED"), (issuer, "WEB_STATE_INVALID"),
            ("error=server_error&\(issuer)", "SERVER_ERROR"),
        ] {
            let error = #expect(throws: VestibuleError.self) { try Self.code(query) }
            #expect(error?.code.rawValue == code)
        }
    }

    @Test func `Claims are read from a token, and from nothing else`() {
        let payload = Data(#"{"sub":"u","sid":"s","nonce":"n"}"#.utf8).base64URL
        #expect(JWTClaims("e30.\(payload).x")?.subject == "u")
        for (audience, list) in [(#""a""#, ["a"]), (#"["a","b"]"#, ["a", "b"]), ("1", [])] {
            let token = "e30.\(Data(#"{"aud":\#(audience)}"#.utf8).base64URL).x"
            #expect(JWTClaims(token)?.audience == list)
        }
        for text in ["", "a.b", "a.b.c", "e30.e30.e30.e30", "e30.\(Data("[]".utf8).base64URL).x"] {
            #expect(JWTClaims(text)?.subject == nil)
        }
    }

    @Test func `A form escapes what would end a field`() {
        #expect(FormText.text(["c": "ü~-._", "a": "x y&z=1+2"]) == "a=x%20y%26z%3D1%2B2&c=%C3%BC~-._")
    }
}
