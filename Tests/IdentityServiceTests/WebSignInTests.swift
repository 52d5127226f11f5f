import API
import IdentityDomain
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Sign-ins in a browser: the state, the provider's form, and the tickets.
struct WebSignInTests {
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let client = "com.example.services"
    static let callback = "https://api.example.com/auth/apple/callback"

    /// Apple with an app, and with a browser client as in the development configuration.
    static func providers(
        page: String? = "https://appleid.apple.com/auth/authorize",
        moreClients: [AudiencePolicy] = [],
        withoutNonce: AudiencePolicy.WithoutNonce = .fresh
    ) throws -> [ProviderConfiguration] {
        let services = AudiencePolicy(
            id: client,
            kind: .services,
            match: .either,
            nonce: .optional,
            withoutNonce: withoutNonce
        )
        let policy = try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: [AudiencePolicy(id: "com.example.app", match: .sha256), services] + moreClients,
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/apple"
        )
        return [
            ProviderConfiguration(
                policy: policy,
                endpoints: ProviderEndpoints(authorizationURL: page),
                displayName: "Staff of Acme"
            )
        ] + (try TestProvider.providers().filter { $0.policy.name == .google })
    }

    // MARK: Starting

    @Test func `A sign-in begins with a state and a page`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            let begun = try await service.begin()
            #expect(begun.state.hasPrefix("vws1_"))
            let url = begun.authorizationURL
            #expect(url.hasPrefix("https://appleid.apple.com/auth/authorize?client_id=com.example.services&"))
            #expect(url.contains("&state=\(begun.state)&nonce=") && url.contains("&response_mode=form_post&"))
            let another = try await service.begin()
            #expect(another.state != begun.state)
            #expect(try await service.count("web_tickets") == 0)
        }
    }

    @Test func `Only browser clients can start`() async throws {
        let more = AudiencePolicy(id: "com.example.web", kind: .web, match: .raw)
        try await TestService.run(providers: Self.providers(moreClients: [more])) { service in
            let begun = try await service.begin(client: "com.example.web")
            #expect(begun.authorizationURL.contains("?client_id=com.example.web&"))
            for client in ["", "com.example.app", "com.example.other"] {
                await expectFailure(.invalidArgument, "CLIENT_UNKNOWN") { _ = try await service.begin(client: client) }
            }
            for challenge in ["", "plain", Self.challenge + "="] {
                await expectFailure(.invalidArgument, "CODE_CHALLENGE_INVALID") {
                    _ = try await service.begin(client: Self.client, challenge: challenge)
                }
            }
            await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                _ = try await service.client.beginWebSignIn(.with { $0.provider = "myspace" })
            }
        }
        try await TestService.run(providers: Self.providers(page: nil)) { service in
            await expectFailure(.failedPrecondition, "WEB_SIGN_IN_NOT_CONFIGURED") { _ = try await service.begin() }
        }
    }

    // MARK: The form

    @Test func `A sign-in with state is proven by the server's nonce`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            let begun = try await service.begin()
            let finished = try await service.finish(begun, fullName: "Ana Cruz", email: "ana@example.com")
            #expect(finished.appURL == "app://x?a=1" && finished.clientID == Self.client)
            #expect(finished.idTokenTicket.hasPrefix("vit1_") && finished.codeTicket.hasPrefix("vct1_"))
            #expect(try await service.count("accounts") == 0)
            let response = try await service.redeem(finished)
            #expect(response.isNewUser && response.proof == .nonce)
            #expect(response.suggestedDisplayName == "Ana Cruz")
            let account = try await service.account(response.tokens.userID)
            #expect(account.identities.map(\.subject) == ["001.person"])
            #expect(try await service.count("web_tickets") == 0)
        }
    }

    @Test func `A sign-in without state is proven by being fresh, where allowed`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            let finished = try await service.finishWithoutState(fullName: "Ana Cruz")
            #expect(finished.appURL.isEmpty && finished.clientID == Self.client)
            let response = try await service.redeem(finished, verifier: "")
            #expect(response.proof == .fresh && response.suggestedDisplayName == "Ana Cruz")
            for clients in [[], ["com.example.app"]] {
                service.clock.advance(seconds: 1)
                await expectFailure(.unauthenticated, "WEB_STATE_INVALID") {
                    _ = try await service.finishWithoutState(clients: clients)
                }
            }
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISSING") {
                // A sign-in that was started with a state, which somebody removed.
                _ = try await service.finishWithoutState(changes: ["nonce": "of another sign-in"])
            }
            #expect(try await service.count("web_tickets") == 0)
        }
    }

    @Test func `A state is valid in its own browser, for ten minutes`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            let mine = try await service.begin()
            let theirs = try await service.begin()
            for browserState in ["", theirs.state, mine.state + "A"] {
                await expectFailure(.unauthenticated, "WEB_STATE_INVALID") {
                    _ = try await service.finish(mine, browserState: browserState)
                }
            }
            let forged = try #require(RefreshKeys([SecureRandom.bytes(32)]))
            let state = WebState(
                provider: .apple,
                clientID: Self.client,
                appURL: "evil://x",
                codeChallenge: Self.challenge,
                nowSeconds: service.clock.nowSeconds,
                random: SecureRandom.bytes(16)
            )
            let text = try #require(WebStateKeys(forged).mint(state)).text
            await expectFailure(.unauthenticated, "WEB_STATE_INVALID") {
                _ = try await service.finish(.with { ($0.state, $0.authorizationURL) = (text, mine.authorizationURL) })
            }
            // Each browser's form with the other's token: the nonce belongs to the other sign-in.
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISMATCH") {
                _ = try await service.finish(
                    .with { ($0.state, $0.authorizationURL) = (mine.state, theirs.authorizationURL) }
                )
            }
            service.clock.advance(seconds: 599)
            _ = try await service.finish(mine)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "WEB_STATE_INVALID") { _ = try await service.finish(theirs) }
        }
    }

    @Test func `Each posted value is verified before anything is stored`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            let stranger = try SigningKey.generateP256()
            let impostor = try SigningKey.generateP256(keyID: service.provider.key.keyID)
            let (clock, provider) = (service.clock, service.provider)
            let cases: [(String, String)] = [
                ("", "TOKEN_MALFORMED"), ("a.b.c", "TOKEN_MALFORMED"),
                (try provider.webToken(at: clock, key: stranger), "TOKEN_KEY_UNKNOWN"),
                (try provider.webToken(at: clock, key: impostor), "TOKEN_SIGNATURE"),
                (try provider.webToken(at: clock, ["iss": "https://evil.example"]), "TOKEN_ISSUER"),
                (try provider.webToken(at: clock, ["aud": "com.other.app"]), "TOKEN_AUDIENCE"),
                (try provider.appleToken(at: clock, ["nonce": nil as JSONValue?]), "TOKEN_NONCE_MISSING"),
                (try provider.webToken(at: clock, ["exp": .integer(clock.nowSeconds - 61)]), "TOKEN_EXPIRED"),
                (try provider.webToken(at: clock, ["c_hash": "another"]), "TOKEN_CODE_HASH"),
            ]
            for (token, reason) in cases {
                await expectFailure(.unauthenticated, reason) {
                    _ = try await service.finishWithoutState(token: token, clients: [Self.client, "com.example.app"])
                }
            }
            await expectFailure(.unauthenticated, "TOKEN_CODE_HASH") {
                _ = try await service.finishWithoutState(code: "")
            }
            #expect(try await service.count("web_tickets") == 0)
        }
    }

    @Test func `An app's token is refused in a browser`() async throws {
        let native = AudiencePolicy(id: "com.example.bare", match: .sha256, nonce: .optional, withoutNonce: .fresh)
        try await TestService.run(providers: Self.providers(moreClients: [native])) { service in
            await expectFailure(.unauthenticated, "TOKEN_AUDIENCE") {
                _ = try await service.finishWithoutState(
                    clients: [Self.client, "com.example.bare"],
                    changes: ["aud": "com.example.bare"]
                )
            }
        }
    }

    @Test func `Details sent while the provider is down are kept until the form is sent again`() async throws {
        try await TestService.run(providers: Self.providers()) { service in
            service.provider.setDown(true)
            let token = try service.provider.webToken(at: service.clock)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
                _ = try await service.finishWithoutState(token: token, fullName: "Ana Cruz", email: "ana@example.com")
            }
            #expect(try await service.count("told_once") == 1)
            service.provider.setDown(false)
            service.clock.advance(seconds: 60)
            let finished = try await service.finishWithoutState(token: token)
            let response = try await service.redeem(finished, verifier: "")
            #expect(response.suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("told_once") == 0)
        }
    }
}

extension TestProvider {
    /// Apple's token for a person in a browser, without a nonce.
    func webToken(
        subject: String = "001.person",
        at clock: TestClock,
        _ changes: [String: JSONValue?] = [:],
        key: SigningKey? = nil
    ) throws -> String {
        let web: [String: JSONValue?] = ["aud": .string(WebSignInTests.client), "nonce": nil as JSONValue?]
        return try appleToken(subject: subject, at: clock, web.merging(changes) { $1 }, key: key)
    }
}

extension TestService {
    func begin(
        client: String = "",
        challenge: String = WebSignInTests.challenge
    ) async throws -> IdentityV1.BeginWebSignInResponse {
        try await self.client.beginWebSignIn(
            .with {
                ($0.provider, $0.clientID, $0.codeChallenge) = ("apple", client, challenge)
                ($0.appURL, $0.redirectUri) = ("app://x?a=1", WebSignInTests.callback)
            }
        )
    }

    /// Finishes a started sign-in, with a token that carries the nonce of the page's URL.
    func finish(
        _ begun: IdentityV1.BeginWebSignInResponse,
        browserState: String? = nil,
        subject: String = "001.person",
        fullName: String = "",
        email: String = "",
        isLink: Bool = false
    ) async throws -> IdentityV1.FinishWebSignInResponse {
        let nonce = begun.authorizationURL.split(separator: "&").first { $0.hasPrefix("nonce=") }?.dropFirst(6) ?? ""
        let token = try provider.webToken(subject: subject, at: clock, ["nonce": .string(String(nonce))])
        return try await client.finishWebSignIn(
            .with {
                ($0.provider, $0.idToken, $0.authorizationCode) = ("apple", token, TestProvider.code)
                ($0.state, $0.browserState) = (begun.state, browserState ?? begun.state)
                ($0.fullName, $0.email, $0.redirectUri) = (fullName, email, WebSignInTests.callback)
                $0.isLink = isLink
            }
        )
    }

    func finishWithoutState(
        token: String? = nil,
        clients: [String] = [WebSignInTests.client],
        changes: [String: JSONValue?] = [:],
        code: String = TestProvider.code,
        fullName: String = "",
        email: String = ""
    ) async throws -> IdentityV1.FinishWebSignInResponse {
        let token = try token ?? provider.webToken(at: clock, changes)
        return try await client.finishWebSignIn(
            .with {
                ($0.provider, $0.idToken, $0.authorizationCode) = ("apple", token, code)
                ($0.fullName, $0.email, $0.redirectUri) = (fullName, email, WebSignInTests.callback)
                $0.clientsWithoutState = clients
            }
        )
    }

    /// Redeems tickets as an app does.
    func redeem(
        _ tickets: IdentityV1.FinishWebSignInResponse,
        verifier: String = WebSignInTests.verifier,
        provider: String = "apple",
        clientID: String = "",
        expectedSubject: String = ""
    ) async throws -> IdentityV1.SignInResponse {
        try await client.signIn(
            .with {
                ($0.provider, $0.idToken, $0.authorizationCode) = (provider, tickets.idTokenTicket, tickets.codeTicket)
                ($0.codeVerifier, $0.clientID, $0.expectedSubject) = (verifier, clientID, expectedSubject)
            }
        )
    }
}
