import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit
import ServiceStore
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Simulates the sources of proven phone numbers: the app's backend, and a trusted provider.
struct PhoneBackend {
    let policy: PhoneAssertionPolicy
    private let key: SigningKey

    init() throws {
        key = try SigningKey.generateP256()
        policy = PhoneAssertionPolicy(issuer: "https://backend.example.com", audience: "phones", keys: KeySet([key]))
    }

    /// An assertion of the app's backend about a user.
    func assertion(
        _ userID: String,
        _ number: String,
        _ service: TestService,
        id: String = "first"
    ) throws -> String {
        let now = service.clock.nowMilliseconds / 1_000
        return try key.signedToken(
            claims: [
                "iss": "https://backend.example.com", "aud": "phones", "sub": .string(userID),
                "phone_number": .string(number), "jti": .string(id), "iat": .integer(now),
                "exp": .integer(now + 300),
            ]
        )
    }

    /// Apple, as if its tokens had phone numbers.
    static func providers(isTrusted: Bool = true) throws -> [ProviderConfiguration] {
        [
            ProviderConfiguration(
                policy: try ProviderPolicy(
                    name: .apple,
                    issuers: ["https://appleid.apple.com"],
                    audiences: [AudiencePolicy(id: "com.example.app", match: .sha256)],
                    algorithms: [.es256],
                    keysURL: "http://127.0.0.1:1/apple",
                    isTrustedForPhones: isTrusted
                )
            )
        ]
    }

    /// The claims about a number in a token.
    static func verified(_ number: String) -> [String: JSONValue?] {
        ["phone_number": .string(number), "phone_number_verified": true]
    }
}

extension TestService {
    /// Presents an assertion in a session.
    func prove(
        _ assertion: String,
        by session: IdentityV1.SignInResponse
    ) async throws -> IdentityV1.ProvePhoneResponse {
        var options = CallOptions()
        options.metadata.add("vestibule-caller-proof", session.callerProofs.identity)
        return try await client.provePhone(.with { $0.assertion = assertion }, options: options)
    }

    /// The audit log's events of phone numbers.
    func phoneEvents() async throws -> [String] {
        try await words(
            """
            SELECT kind || ' ' || user_id || ' ' || details FROM security_events WHERE kind LIKE 'phone_%'
            ORDER BY kind, user_id
            """
        )
    }

    /// Runs the relay of proofs beside a body.
    func relayingProofs(_ body: () async throws -> Void) async throws {
        let task = Task { try await parts.phoneProofs.runner.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        task.cancel()
        try await task.value
        try result.get()
    }

}
