import IdentityDomain
import JOSE
import OutgoingHTTP
import Synchronization
import Testing

@testable import Console

/// Signing in by an OpenID provider.
struct OpenIDProviderTests {
    private static let issuer = "https://idp.example"
    private static let now: Int64 = 1_795_824_000

    /// A provider that answers from memory.
    private final class Provider: OutgoingClient {
        let key: SigningKey
        let claims = Mutex<JSONObject>([:])
        let document = Mutex<JSONObject>([:])
        let published: Mutex<[SigningKey]>
        let status = Mutex(200)
        let asked = Mutex<[String]>([])

        init() throws {
            key = try SigningKey.generateP256()
            published = Mutex([key])
            document.withLock {
                $0 = [
                    "issuer": .string(issuer), "authorization_endpoint": "https://idp.example/authorize?a=b",
                    "token_endpoint": "https://idp.example/token", "jwks_uri": "https://idp.example/keys",
                    "id_token_signing_alg_values_supported": ["ES256"],
                ]
            }
        }

        func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
            let place = String(request.url.split(separator: "/").last ?? "")
            asked.withLock { $0.append(place) }
            let body: JSONObject
            switch place {
            case "token":
                let claims = claims.withLock { $0 }
                guard let token = try? key.signedToken(claims: claims, type: "JWT") else {
                    throw OutgoingHTTPError(.overloaded, mayHaveBeenSent: false)
                }
                body = ["id_token": .string(token)]
            case "keys": body = KeySet(published.withLock { $0 }).json
            default: body = document.withLock { $0 }
            }
            return OutgoingResponse(status: status.withLock { $0 }, headers: [], body: body.serialized())
        }
    }

    private func client(_ http: Provider, isAuthTimeOptional: Bool = false) -> OpenIDProvider {
        OpenIDProvider(
            OpenIDProvider.Settings(
                issuer: Self.issuer,
                discoveryURL: "https://idp.example/.well-known/openid-configuration",
                clientID: "console",
                clientSecret: "s",
                redirectURI: "http://127.0.0.1:7090/sign-in/callback",
                isAuthTimeOptional: isAuthTimeOptional
            ),
            http: http
        )
    }

    private func claims(_ attempt: SignInAttempt, _ changes: JSONObject = [:]) -> JSONObject {
        var claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "console", "sub": "7", "nonce": .string(attempt.nonce),
            "iat": .integer(Self.now), "exp": .integer(Self.now + 600),
            "auth_time": .integer(Self.now), "email": "ana@example.com",
        ]
        for change in changes.members { claims[change.name] = change.value }
        return claims
    }

    private func subject(_ changes: JSONObject, nonce: String? = nil) async throws -> OpenIDProvider.SignIn? {
        let http = try Provider()
        let attempt = SignInAttempt(goal: .accounts, now: .at(Self.now))
        http.claims.withLock { $0 = claims(attempt, changes) }
        return try? await client(http).finish(code: "c", attempt, now: .at(Self.now))
    }

    @Test func `The browser is sent with state, nonce and challenge, and asked to sign in anew`() async throws {
        let attempt = SignInAttempt(goal: .accounts, now: .at(Self.now))
        let address = try await client(Provider()).address(of: attempt, now: .at(Self.now))
        #expect(address.hasPrefix("https://idp.example/authorize?a=b&response_type=code&client_id=console&"))
        for part in [
            "state=\(attempt.state)", "nonce=\(attempt.nonce)", "code_challenge=\(attempt.challenge)",
            "code_challenge_method=S256", "prompt=login", "max_age=0", "scope=openid",
            "redirect_uri=http%3A%2F%2F127.0.0.1%3A7090%2Fsign-in%2Fcallback",
        ] { #expect(address.contains(part)) }
        #expect(!address.contains(attempt.verifier))
    }

    @Test func `Issuer and subject say who signed in, and auth_time when`() async throws {
        let proof = SignInProof(at: .at(Self.now), basis: .authTime)
        let expected = ProviderSubject(issuer: Self.issuer, subject: "7")
        #expect(try await subject([:]) == OpenIDProvider.SignIn(subject: expected, proof: proof))
        let earlier = try await subject(["auth_time": .integer(Self.now - 900)])
        #expect(earlier?.proof.at == .at(Self.now - 900))
        #expect(try await subject(["auth_time": .integer(Self.now + 30)])?.proof.at == .at(Self.now))
        // A NumericDate may have a fraction (RFC 7519 section 2).
        let old = try await subject(["auth_time": .number(literal: "1700000000.5")])
        #expect(old?.proof.at == .at(1_700_000_000))
    }

    @Test
    func `A token without auth_time is refused, unless the configuration takes it: then the request's time counts`()
        async throws
    {
        let http = try Provider()
        let attempt = SignInAttempt(goal: .accounts, now: .at(Self.now - 400))
        func finish(_ issuedAt: Int64, isOptional: Bool) async throws -> OpenIDProvider.SignIn {
            var claims = claims(attempt, ["iat": .integer(issuedAt)])
            claims["auth_time"] = nil
            http.claims.withLock { $0 = claims }
            return try await client(http, isAuthTimeOptional: isOptional).finish(code: "c", attempt, now: .at(Self.now))
        }
        await #expect(throws: SignInFailure.withoutAuthTime) { _ = try await finish(Self.now, isOptional: false) }
        let signIn = try await finish(Self.now, isOptional: true)
        #expect(signIn.proof == SignInProof(at: .at(Self.now - 400), basis: .request))
        _ = try await finish(Self.now - 460, isOptional: true)
        await #expect(throws: SignInFailure.rejected("the ID token was issued before the request")) {
            _ = try await finish(Self.now - 461, isOptional: true)
        }
        // One that is there counts all the same.
        http.claims.withLock { $0 = claims(attempt, ["auth_time": .integer(Self.now - 900)]) }
        let told = try await client(http, isAuthTimeOptional: true).finish(code: "c", attempt, now: .at(Self.now))
        #expect(told.proof == SignInProof(at: .at(Self.now - 900), basis: .authTime))
    }

    @Test(
        arguments: [.string("1700000000"), .null, .integer(.max), .integer(-1), .integer(now + 61), .bool(true)]
            as [JSONValue]
    )
    func `An auth_time that is no time makes nothing fresh`(time: JSONValue) async throws {
        #expect(try await subject(["auth_time": time]) == nil)
    }

    @Test func `A description is fetched once for all who wait for it, and not again at once after a failure`()
        async throws
    {
        let http = try Provider()
        let provider = client(http)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    _ = try await provider.address(
                        of: SignInAttempt(goal: .accounts, now: .at(Self.now)),
                        now: .at(Self.now)
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(http.asked.withLock { $0.count } == 1)
        let down = try Provider()
        down.status.withLock { $0 = 503 }
        let away = client(down)
        for _ in 0..<5 {
            await #expect(throws: SignInFailure.self) {
                _ = try await away.address(
                    of: SignInAttempt(goal: .accounts, now: .at(Self.now)),
                    now: .at(Self.now)
                )
            }
        }
        #expect(down.asked.withLock { $0.count } == 1)
    }

    @Test func `A token that isn't for this sign-in proves nobody`() async throws {
        let changes: [JSONObject] = [
            ["iss": "https://evil.example"], ["aud": "another"], ["nonce": "another"],
            ["exp": .integer(Self.now - 100)],
            ["iat": .integer(Self.now - 4_000)], ["sub": ""], ["aud": ["another", "third"]],
        ]
        for change in changes { #expect(try await subject(change) == nil, "\(change)") }
    }

    @Test func `A key that the provider doesn't publish, and a description of another issuer, are refused`()
        async throws
    {
        let http = try Provider()
        let attempt = SignInAttempt(goal: .accounts, now: .at(Self.now))
        http.claims.withLock { $0 = claims(attempt) }
        let other = try SigningKey.generateP256()
        http.published.withLock { $0 = [other] }
        let provider = client(http)
        await #expect(throws: SignInFailure.self) {
            _ = try await provider.finish(code: "c", attempt, now: .at(Self.now))
        }
        // Keys are asked for again, but not at once.
        http.published.withLock { $0 = [http.key] }
        await #expect(throws: SignInFailure.self) {
            _ = try await provider.finish(code: "c", attempt, now: .at(Self.now + 9))
        }
        _ = try await provider.finish(code: "c", attempt, now: .at(Self.now + 10))
        #expect(http.asked.withLock { $0.filter { $0 == "keys" }.count } == 2)
        for (name, value): (String, JSONValue) in [
            ("issuer", "https://evil.example"), ("token_endpoint", "http://idp.example/token"),
            ("jwks_uri", "javascript:alert(1)"), ("id_token_signing_alg_values_supported", ["HS256", "none"]),
        ] {
            let bad = try Provider()
            bad.document.withLock { $0[name] = value }
            await #expect(throws: SignInFailure.self, "\(name)") {
                _ = try await client(bad).address(of: attempt, now: .at(Self.now))
            }
        }
        let down = try Provider()
        down.status.withLock { $0 = 503 }
        let waiting = client(down)
        for second in Int64(0)...2 {
            await #expect(throws: SignInFailure.self) {
                _ = try await waiting.address(of: attempt, now: .at(Self.now + second))
            }
        }
        #expect(down.asked.withLock { $0.count } == 1, "it is not asked by each who begins a sign-in")
        down.status.withLock { $0 = 200 }
        try await Task.sleep(for: .milliseconds(3100))
        _ = try await waiting.address(of: attempt, now: .at(Self.now + 3))
    }
}
