import JOSE
import Models
import Testing

@testable import IdentityDomain

struct PhoneAssertionTests {
    private static let now: Int64 = 1_800_000_000
    private let key: SigningKey
    private let policy: PhoneAssertionPolicy
    private let maria = UserID(high: 2, low: 1)

    init() throws {
        key = try SigningKey.generateP256()
        policy = PhoneAssertionPolicy(issuer: "https://backend.example.com", audience: "phones", keys: KeySet([key]))
    }

    /// An assertion of good claims with the given changes; nil leaves a claim out.
    private func assertion(
        _ changes: [String: JSONValue?] = [:],
        key: SigningKey? = nil,
        type: String = "JWT"
    ) throws -> String {
        var claims: JSONObject = [
            "iss": "https://backend.example.com", "aud": "phones", "sub": .string(maria.description),
            "phone_number": "+639171234567", "jti": "first", "iat": .integer(Self.now), "exp": .integer(Self.now + 300),
        ]
        for (name, value) in changes { claims[name] = value }
        return try (key ?? self.key).signedToken(claims: claims, type: type)
    }

    private func refusal(_ text: String, for user: UserID? = nil, at now: Int64 = now) -> PhoneAssertionRejection? {
        do throws(PhoneAssertionRejection) {
            _ = try policy.judge(text, for: user ?? maria, nowSeconds: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A good assertion tells the number, and each copy of it is the same`() throws {
        let told = try policy.judge(assertion(), for: maria, nowSeconds: Self.now)
        #expect(told.phoneNumber == "+639171234567" && told.acceptedUntilSeconds == Self.now + 330)
        // Another signature of the same, and of other claims by the same `jti`.
        #expect(try policy.judge(assertion(), for: maria, nowSeconds: Self.now + 9).fingerprint == told.fingerprint)
        let other = try policy.judge(assertion(["phone_number": "+639170000000"]), for: maria, nowSeconds: Self.now)
        #expect(other.fingerprint == told.fingerprint)
        #expect(
            try policy.judge(assertion(["jti": "second"]), for: maria, nowSeconds: Self.now).fingerprint
                != told.fingerprint
        )
        #expect(try refusal(assertion(["aud": ["phones"]])) == nil)
        #expect(try refusal(assertion(["nbf": .integer(Self.now + 20)])) == nil)
    }

    @Test func `An incomplete assertion, or one without a known key's signature, is invalid`() throws {
        let stranger = try SigningKey.generateP256()
        #expect(try refusal(assertion(key: stranger)) == .invalid)
        #expect(try refusal(assertion(type: "at+jwt")) == .invalid)
        let good = try assertion()
        let parts = good.split(separator: ".").map(String.init)
        let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        for text in [
            "", "a.b.c", "\(parts[0]).\(parts[1]).", "\(none).\(parts[1]).", String(good.dropLast(4)), good + "A",
        ] {
            #expect(refusal(text) == .invalid, "\(text)")
        }
        let changes: [[String: JSONValue?]] = [
            ["jti": nil], ["jti": ""], ["jti": 1], ["jti": .string(String(repeating: "j", count: 257))],
            ["phone_number": nil], ["phone_number": "09171234567"], ["phone_number": "639171234567"],
            ["phone_number": "+63 917 1234567"], ["phone_number": "+6391712345678901"], ["phone_number": "+0917123456"],
            ["iat": nil], ["exp": nil], ["iat": "1800000000"], ["exp": -1], ["nbf": "now"],
        ]
        for change in changes { #expect(try refusal(assertion(change)) == .invalid, "\(change)") }
    }

    @Test func `An assertion of another issuer, audience or user is mismatched`() throws {
        let changes: [[String: JSONValue?]] = [
            ["iss": "https://other.example.com"], ["iss": nil], ["aud": "others"], ["aud": ["phones", "others"]],
            ["aud": []], ["aud": nil], ["sub": nil], ["sub": "maria"],
        ]
        for change in changes { #expect(try refusal(assertion(change)) == .mismatched, "\(change)") }
        #expect(try refusal(assertion(), for: UserID(high: 2, low: 2)) == .mismatched)
    }

    @Test func `It is valid for five minutes at most, with clocks half a minute apart at most`() throws {
        for (now, expected) in [
            (Self.now - 31, PhoneAssertionRejection.expired), (Self.now - 30, nil), (Self.now + 329, nil),
            (Self.now + 330, .expired),
        ] {
            #expect(try refusal(assertion(), at: now) == expected, "\(now - Self.now)")
        }
        #expect(try refusal(assertion(["exp": .integer(Self.now + 301)])) == .expired)
        #expect(try refusal(assertion(["exp": .integer(Self.now - 1)])) == .expired)
        #expect(try refusal(assertion(["nbf": .integer(Self.now + 60)])) == .expired)
    }

    @Test func `A provider's number counts where the provider is trusted for it and has verified it`() throws {
        let apple = try TestProvider.apple()
        let verified: [String: JSONValue?] = ["phone_number": "+639171234567", "phone_number_verified": true]
        #expect(try apple.judge(verified).phoneNumber == nil, "not trusted")
        var trusted = apple
        trusted.policy = try ProviderPolicy(
            name: .apple,
            issuers: Array(apple.policy.issuers),
            audiences: Array(apple.policy.audiences.values),
            algorithms: [.es256],
            keysURL: apple.policy.keysURL,
            isTrustedForPhones: true
        )
        #expect(try trusted.judge(verified).phoneNumber == "+639171234567")
        let changes: [[String: JSONValue?]] = [
            [:], ["phone_number": "+639171234567"],
            ["phone_number": "+639171234567", "phone_number_verified": false],
            ["phone_number": "+639171234567", "phone_number_verified": "true"],
            ["phone_number": "0917 1234567", "phone_number_verified": true],
            ["phone_number": 1, "phone_number_verified": true], ["phone_number_verified": true],
        ]
        for change in changes { #expect(try trusted.judge(change).phoneNumber == nil, "\(change)") }
    }
}
