import JOSE
import Testing

@testable import IdentityDomain

struct SignInNoncesTests {
    private let keys: [[UInt8]] = [SecureRandom.bytes(32), SecureRandom.bytes(32)]

    private func nonces(_ keys: [[UInt8]]) throws -> SignInNonces { SignInNonces(try #require(RefreshKeys(keys))) }

    private func make(_ nonces: SignInNonces, audience: String = "app") -> String {
        nonces.make(provider: .apple, audience: audience, nowSeconds: 1_000, random: SecureRandom.bytes(16))
    }

    @Test func `A nonce is good for ten minutes, for its audience, under any of the keys`() throws {
        let (old, both) = (try nonces([keys[1]]), try nonces(keys))
        let text = make(old)
        #expect(text.utf8.count == SignInNonces.textByteCount && text.utf8.count >= 43)
        for now in [1_000, 1_599] as [Int64] {
            try both.check(text, provider: .apple, audience: "app", nowSeconds: now)
        }
        #expect(throws: IdentityError.signIn(.nonceExpired)) {
            try both.check(text, provider: .apple, audience: "app", nowSeconds: 1_600)
        }
        #expect(throws: IdentityError.signIn(.nonceUnknown)) {
            try both.check(text, provider: .google, audience: "app", nowSeconds: 1_000)
        }
        #expect(throws: IdentityError.signIn(.nonceUnknown)) {
            try both.check(text, provider: .apple, audience: "other", nowSeconds: 1_000)
        }
        #expect(throws: IdentityError.signIn(.nonceUnknown)) {
            try old.check(make(both), provider: .apple, audience: "app", nowSeconds: 1_000)
        }
    }

    @Test func `No bit of it can be changed`() throws {
        let nonces = try nonces(keys)
        let bytes = try #require(Base64URL.decode(make(nonces)))
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: IdentityError.signIn(.nonceUnknown)) {
                try nonces.check(
                    Base64URL.encode(changed),
                    provider: .apple,
                    audience: "app",
                    nowSeconds: 1_000
                )
            }
        }
    }

    @Test(arguments: ["", "nonce", String(repeating: "A", count: 54), String(repeating: "%", count: 54)])
    func `A malformed nonce is unknown`(text: String) throws {
        let nonces = try nonces(keys)
        #expect(throws: IdentityError.signIn(.nonceUnknown)) {
            try nonces.check(text, provider: .apple, audience: "app", nowSeconds: 0)
        }
    }
}
