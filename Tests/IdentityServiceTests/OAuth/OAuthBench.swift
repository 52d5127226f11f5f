import API
import IdentityDomain
import JOSE
import Models
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A service with a public and a confidential client, and what a browser and these clients do.
struct OAuthBench {
    static let callback = "https://app.example.com/callback"
    static let secret = "a-long-and-random-secret"
    static let verifier = WebSignInTests.verifier

    let service: TestService

    static func clients() throws -> [OAuthClient] {
        func client(_ id: String, secret: String?, scopes: Set<OAuthScope>, accessTokenSeconds: Int64? = nil) throws
            -> OAuthClient
        {
            var client = OAuthClient(
                id: id,
                name: "Hikers",
                authentication: secret.map { .secrets([SHA256.hash($0)]) } ?? .none,
                redirectURIs: [try RedirectURI(callback)]
            )
            client.postLogoutRedirectURIs = [try RedirectURI("https://app.example.com/bye")]
            client.scopes = scopes
            client.accessTokenSeconds = accessTokenSeconds
            return client
        }
        let all = Set(OAuthScope.allCases)
        return [
            try client("app", secret: nil, scopes: all), try client("web", secret: secret, scopes: all),
            try client("short", secret: nil, scopes: [.openid], accessTokenSeconds: 120),
        ]
    }

    static func run(_ body: (OAuthBench) async throws -> Void) async throws {
        try await TestService.run(providers: WebSignInTests.providers(), clients: clients()) { service in
            try await body(OAuthBench(service: service))
        }
    }

    /// Signs a browser in by Apple, and returns the value of its cookie.
    func browserToken(subject: String = "001.person") async throws -> String {
        let tickets = try await service.finish(service.begin(), subject: subject, fullName: "Ana Cruz")
        let response = try await service.client.signIn(
            .with {
                ($0.provider, $0.idToken, $0.authorizationCode) = ("apple", tickets.idTokenTicket, tickets.codeTicket)
                ($0.codeVerifier, $0.tokenStyle) = (WebSignInTests.verifier, .browser)
            }
        )
        #expect(response.tokens.accessToken.isEmpty && response.tokens.refreshToken.isEmpty)
        return response.tokens.singleToken
    }

    /// Asks the authorization endpoint; nil leaves a parameter out.
    func authorize(
        _ changes: [String: String?] = [:],
        browser: String = ""
    ) async throws -> IdentityV1.AuthorizeResponse {
        var parameters: [String: String?] = [
            "client_id": "app", "redirect_uri": Self.callback, "response_type": "code",
            "scope": "openid profile email offline_access", "state": "xyz", "nonce": "n-1",
            "code_challenge": WebSignInTests.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { parameters[name] = value }
        return try await service.oauth.authorize(
            .with {
                $0.parameters = parameters.compactMap { name, value in value.map { IdentityV1.OAuthParameter(name, $0) }
                }
                $0.browserToken = browser
            }
        )
    }

    /// The code of a request by a browser that has signed in.
    func code(_ changes: [String: String?] = [:], browser: String) async throws -> String {
        let response = try await authorize(changes, browser: browser)
        return try #require(response.answer.value("code"), "\(response)")
    }

    /// Asks the token endpoint.
    func token(
        _ parameters: [String: String],
        basic: (id: String, secret: String)? = nil
    ) async throws -> IdentityV1.IssueTokensResponse {
        try await service.oauth.issueTokens(
            .with {
                $0.parameters = parameters.map { IdentityV1.OAuthParameter($0.key, $0.value) }
                if let basic { ($0.client.basicID, $0.client.basicSecret) = (basic.id, basic.secret) }
            }
        )
    }

    /// Redeems a code as the client `app` does.
    func redeem(_ code: String, _ changes: [String: String] = [:]) async throws -> IdentityV1.IssueTokensResponse {
        var parameters = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": Self.callback, "client_id": "app",
            "code_verifier": Self.verifier,
        ]
        for (name, value) in changes { parameters[name] = value }
        return try await token(parameters)
    }

    func refresh(_ token: String, client: String = "app") async throws -> IdentityV1.IssueTokensResponse {
        try await self.token(["grant_type": "refresh_token", "refresh_token": token, "client_id": client])
    }

    /// Whether an access token is accepted.
    func isAccepted(_ accessToken: String) async -> Bool {
        (try? await service.client.checkSession(.with { $0.accessToken = accessToken })) != nil
    }
}

extension IdentityV1.ClientAnswer {
    func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
}
