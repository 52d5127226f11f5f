import JOSE
import Models
import Testing

@testable import IdentityDomain

struct WebStateTests {
    private static let now: Int64 = 1_800_000_000
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private static func keys(_ count: Int = 1) throws -> RefreshKeys {
        try #require(RefreshKeys((0..<count).map { _ in SecureRandom.bytes(32) }))
    }

    private static func state(
        appURL: String = "app://x?a=1",
        random: UInt8 = 7,
        linkingSession: SessionID? = nil
    ) -> WebState {
        WebState(
            provider: .apple,
            clientID: "com.example.services",
            appURL: appURL,
            codeChallenge: challenge,
            nowSeconds: now,
            random: Array(repeating: random, count: WebState.randomByteCount),
            linkingSession: linkingSession
        )
    }

    @Test func `The session of a link comes back, and can't be read`() throws {
        let (first, other) = (try Self.keys(), try Self.keys())
        let session = SessionID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677)
        let minted = try #require(WebStateKeys(first).mint(Self.state(linkingSession: session)))
        #expect(WebStateKeys(first).verify(minted.text, nowSeconds: Self.now)?.state.linkingSession == session)
        #expect(WebStateKeys(other).verify(minted.text, nowSeconds: Self.now) == nil)
        let content = try #require(Base64URL.decode(minted.text.dropFirst(5)))
        let text = String(decoding: content, as: UTF8.self)
        #expect(text.contains("link") && !text.contains(session.description))
        #expect(!text.contains(Base64URL.encode(session.bytes)))
        let again = try #require(WebStateKeys(first).mint(Self.state(random: 8, linkingSession: session)))
        #expect(again.text != minted.text)
    }

    @Test func `A state comes back as it was made, with its nonce`() throws {
        let keys = WebStateKeys(try Self.keys())
        let minted = try #require(keys.mint(Self.state()))
        #expect(minted.text.hasPrefix("vws1_"))
        #expect(Base64URL.decode(minted.text.dropFirst(5)) != nil, "it needs no escaping in URLs and cookies")
        for later in [0, WebState.lifetimeSeconds - 1] {
            let verified = try #require(keys.verify(minted.text, nowSeconds: Self.now + later))
            #expect(verified.state == Self.state())
            #expect(verified.rawNonce == minted.rawNonce)
        }
        #expect(keys.verify(minted.text, nowSeconds: Self.now + WebState.lifetimeSeconds) == nil)
    }

    @Test func `The nonce is in no state, and is random`() throws {
        let keys = WebStateKeys(try Self.keys())
        let first = try #require(keys.mint(Self.state()))
        let second = try #require(keys.mint(Self.state(random: 8)))
        #expect(first.rawNonce != second.rawNonce)
        let content = try #require(Base64URL.decode(first.text.dropFirst(5)))
        let nonce = try #require(Base64URL.decode(first.rawNonce))
        #expect(nonce.count == 32)
        #expect(!content.indices.contains { content[$0...].starts(with: nonce) })
    }

    @Test func `A state with a changed byte is invalid`() throws {
        let keys = WebStateKeys(try Self.keys())
        let minted = try #require(keys.mint(Self.state()))
        let bytes = try #require(Base64URL.decode(minted.text.dropFirst(5)))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(keys.verify("vws1_" + Base64URL.encode(changed), nowSeconds: Self.now) == nil)
            #expect(keys.verify("vws1_" + Base64URL.encode(bytes[..<index]), nowSeconds: Self.now) == nil)
        }
        for text in ["", "vws1_", "vws1_!", "vrt1_" + Base64URL.encode(bytes), Base64URL.encode(bytes)] {
            #expect(keys.verify(text, nowSeconds: Self.now) == nil)
        }
    }

    @Test func `The previous key verifies a state, and another one doesn't`() throws {
        let (old, new) = (SecureRandom.bytes(32), SecureRandom.bytes(32))
        let before = WebStateKeys(try #require(RefreshKeys([old])))
        let minted = try #require(before.mint(Self.state()))
        let rotated = WebStateKeys(try #require(RefreshKeys([new, old])))
        #expect(rotated.verify(minted.text, nowSeconds: Self.now)?.rawNonce == minted.rawNonce)
        #expect(WebStateKeys(try #require(RefreshKeys([new]))).verify(minted.text, nowSeconds: Self.now) == nil)
    }

    @Test func `A state that is too long for a cookie is not made`() throws {
        let keys = WebStateKeys(try Self.keys())
        #expect(keys.mint(Self.state(appURL: String(repeating: "a", count: 3000))) == nil)
    }

    /// RFC 7636 appendix B.
    @Test func `A challenge is the hash of its verifier`() {
        #expect(CodeChallenge.of(verifier: Self.verifier) == Self.challenge)
        #expect(CodeChallenge.isAcceptable(Self.challenge))
        for text in ["", "short", Self.challenge + "A", Self.challenge.dropLast() + "+", Self.challenge + "="] {
            #expect(!CodeChallenge.isAcceptable(text))
        }
        for verifier in ["", Self.verifier.dropLast() + "", Self.verifier + "+", String(repeating: "a", count: 129)] {
            #expect(CodeChallenge.of(verifier: verifier) == nil)
        }
    }

    @Test(arguments: [(NonceMatch.sha256, true), (.either, true), (.raw, false)])
    func `The page's request has the nonce in the form that the audience wants`(match: NonceMatch, isHashed: Bool) {
        let request = WebAuthorization(
            client: AudiencePolicy(id: "com.example.services", kind: .services, match: match),
            redirectURI: "https://api.example.com/auth/apple/callback",
            state: "vws1_a-b",
            rawNonce: "raw"
        )
        let nonce = isHashed ? Hex.encode(SHA256.hash("raw")) : "raw"
        let query =
            "client_id=com.example.services&redirect_uri=https%3A%2F%2Fapi.example.com%2Fauth%2Fapple%2Fcallback"
            + "&response_type=code%20id_token&response_mode=form_post&scope=name%20email&state=vws1_a-b&nonce=\(nonce)"
        #expect(
            request.url(of: "https://a.example/authorize", provider: .apple) == "https://a.example/authorize?\(query)"
        )
        #expect(
            request.url(of: "https://a.example/?x=1", provider: .google).hasPrefix("https://a.example/?x=1&client_id")
        )
        #expect(request.url(of: "https://a.example/", provider: .google).contains("scope=openid%20email%20profile"))
    }
}
