import IdentityDomain
import JOSE
import Synchronization

@testable import IdentityService

/// Providers whose keys and tokens a test makes, and whose key URLs it can break.
final class TestProvider: KeyFetching {
    struct Down: Error {}

    private struct State {
        var keys: [SigningKey]
        var isDown = false
        var isSlow = false
        var fetchCount = 0
    }

    static let rawNonce = "a-raw-nonce"
    static let code = "an-authorization-code"

    private let state: Mutex<State>

    init() throws {
        state = Mutex(State(keys: [try SigningKey.generateP256()]))
    }

    var fetchCount: Int { state.withLock { $0.fetchCount } }
    var key: SigningKey { state.withLock { $0.keys[0] } }

    func setDown(_ isDown: Bool) {
        state.withLock { $0.isDown = isDown }
    }

    /// Lets fetches take longer than anybody waits.
    func setSlow(_ isSlow: Bool) {
        state.withLock { $0.isSlow = isSlow }
    }

    /// Replaces all keys at once, as Apple did in April 2022.
    func rotateKeys() throws {
        let key = try SigningKey.generateP256()
        state.withLock { $0.keys = [key] }
    }

    func fetchKeys(from url: String) async throws -> FetchedKeys {
        if state.withLock({ $0.isSlow }) { try await Task.sleep(for: .seconds(600)) }
        return try state.withLock { state in
            state.fetchCount += 1
            if state.isDown { throw Down() }
            return FetchedKeys(keySet: KeySet(state.keys), maxAgeSeconds: nil)
        }
    }

    static func providers() throws -> [ProviderConfiguration] {
        [
            ProviderConfiguration(
                policy: try ProviderPolicy(
                    name: .apple,
                    issuers: ["https://appleid.apple.com"],
                    audiences: [AudiencePolicy(id: "com.example.app", match: .sha256)],
                    algorithms: [.es256],
                    keysURL: "http://127.0.0.1:1/apple"
                )
            ),
            ProviderConfiguration(
                policy: try ProviderPolicy(
                    name: .google,
                    issuers: ["https://accounts.google.com", "accounts.google.com"],
                    audiences: [AudiencePolicy(id: "example.apps.googleusercontent.com", kind: .web, match: .either)],
                    algorithms: [.es256],
                    keysURL: "http://127.0.0.1:1/google"
                )
            ),
        ]
    }

    /// Apple's token for a person. Tokens of one second and person are equal unless `changes` differ.
    func appleToken(
        subject: String = "001.person",
        at clock: TestClock,
        _ changes: [String: JSONValue?] = [:],
        key: SigningKey? = nil
    ) throws -> String {
        var claims: JSONObject = [
            "iss": "https://appleid.apple.com", "aud": "com.example.app", "sub": .string(subject),
            "iat": .integer(clock.nowSeconds), "exp": .integer(clock.nowSeconds + 86_400),
            "nonce": .string(Hex.encode(SHA256.hash(Self.rawNonce))), "nonce_supported": true,
            "email": "person@privaterelay.appleid.com", "email_verified": "true", "is_private_email": "true",
            "c_hash": .string(SignatureAlgorithm.es256.halfHash(of: Self.code)),
        ]
        for (name, value) in changes { claims[name] = value }
        return try (key ?? self.key).signedToken(claims: claims)
    }
}
