import API
import IdentityDomain
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Audiences whose sign-ins must carry a nonce from the server.
struct ServerNonceTests {
    private static let strict = "com.example.strict"
    private static let plain = "com.example.app"

    private func run(_ body: (TestService) async throws -> Void) async throws {
        let apple = try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: [
                AudiencePolicy(id: Self.strict, match: .sha256, nonce: .server),
                AudiencePolicy(id: Self.plain, match: .sha256),
            ],
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/apple"
        )
        let google = try ProviderPolicy(
            name: .google,
            issuers: ["https://accounts.google.com"],
            audiences: [AudiencePolicy(id: "google", match: .raw, nonce: .server)],
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/google"
        )
        try await TestService.run(providers: [apple, google].map { ProviderConfiguration(policy: $0) }, body)
    }

    private func nonce(_ service: TestService, _ provider: String = "apple", _ clientID: String = strict) async throws
        -> String
    {
        try await service.client.createChallenge(
            .with { ($0.provider, $0.clientID) = (provider, clientID) }
        ).nonce
    }

    /// Signs in with a token that carries the nonce in the form that Apple's apps use.
    private func signIn(
        _ service: TestService,
        _ nonce: String,
        claim: String? = nil,
        audience: String = strict
    ) async throws {
        let token = try service.provider.appleToken(
            at: service.clock,
            [
                "aud": .string(audience), "nonce": .string(claim ?? Hex.encode(SHA256.hash(nonce))),
                "jti": .string(Base64URL.encode(SecureRandom.bytes(8))), "c_hash": nil as JSONValue?,
            ]
        )
        _ = try await service.signIn(token: token, nonce: nonce)
    }

    @Test func `A nonce of the server signs in, hashed as the audience requires`() async throws {
        try await run { service in
            let answer = try await service.client.createChallenge(
                .with { ($0.provider, $0.clientID) = ("apple", Self.strict) }
            )
            #expect(answer.expiresInSeconds == 600)
            try await signIn(service, answer.nonce)
            let other = try await nonce(service)
            #expect(other != answer.nonce)
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISMATCH") {
                try await signIn(service, other, claim: other)
            }
            // There is only one audience, which needn't be named.
            let raw = try await nonce(service, "google", "")
            let token = try service.provider.appleToken(
                at: service.clock,
                [
                    "iss": "https://accounts.google.com", "aud": "google", "nonce": .string(raw),
                    "c_hash": nil as JSONValue?,
                ]
            )
            let session = try await service.signIn(token: token, provider: "google", nonce: raw)
            #expect(session.proof == .nonce)
        }
    }

    @Test func `Any other nonce is refused, and so is an old one`() async throws {
        try await run { service in
            let mine = try await nonce(service)
            let ofAnother = try await nonce(service, "apple", Self.plain)
            let ofGoogle = try await nonce(service, "google", "google")
            let changed = String(mine.dropLast(2)) + (mine.hasSuffix("AA") ? "AB" : "AA")
            for nonce in ["of-my-own", ofAnother, ofGoogle, changed, mine + "A"] {
                await expectFailure(.unauthenticated, "NONCE_UNKNOWN") { try await signIn(service, nonce) }
            }
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISSING") {
                try await signIn(service, "", claim: Hex.encode(SHA256.hash(mine)))
            }
            service.clock.advance(seconds: 599)
            try await signIn(service, mine)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "NONCE_EXPIRED") { try await signIn(service, mine) }
            // Where the server's nonce isn't required, it is like any other.
            try await signIn(service, ofAnother, audience: Self.plain)
            try await signIn(service, "of-my-own", audience: Self.plain)
        }
    }

    @Test func `Neither a code nor an access token alone signs in`() async throws {
        try await run { service in
            let codeAlone: (inout IdentityV1.SignInRequest) -> Void = {
                ($0.authorizationCode, $0.clientID) = (TestProvider.code, Self.strict)
            }
            await expectFailure(.unauthenticated, "NONCE_REQUIRED") { try await service.signIn(codeAlone) }
            await expectFailure(.unauthenticated, "NONCE_REQUIRED") {
                try await service.signIn {
                    ($0.provider, $0.accessToken, $0.clientID) = ("google", "token", "google")
                }
            }
        }
    }

    @Test func `A nonce needs a configured provider and audience`() async throws {
        try await run { service in
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") { _ = try await nonce(service, "myspace") }
            for clientID in ["com.example.other", ""] {
                await expectFailure(.invalidArgument, "CLIENT_UNKNOWN") {
                    _ = try await nonce(service, "apple", clientID)
                }
            }
        }
    }

    @Test func `Credentials find an account only with a nonce of the server`() async throws {
        try await run { service in
            let token = try service.provider.appleToken(
                at: service.clock,
                [
                    "aud": .string(Self.strict), "nonce": .string(Hex.encode(SHA256.hash("mine"))),
                    "c_hash": nil as JSONValue?,
                ]
            )
            await expectFailure(.unauthenticated, "NONCE_UNKNOWN") {
                _ = try await service.findAccount { ($0.idToken, $0.nonce) = (token, "mine") }
            }
        }
    }
}
