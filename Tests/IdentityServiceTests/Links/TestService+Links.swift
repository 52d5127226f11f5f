import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

extension TestService {
    /// Google's token for a person, one that was never used.
    func googleToken(_ subject: String = "77", _ changes: [String: JSONValue?] = [:]) throws -> String {
        var claims: [String: JSONValue?] = [
            "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com",
            "c_hash": nil as JSONValue?,
            "email": "maria@example.com", "email_verified": true, "is_private_email": nil as JSONValue?,
            "jti": .string(Base64URL.encode(SecureRandom.bytes(12))),
        ]
        for (name, value) in changes { claims[name] = value }
        return try provider.appleToken(subject: subject, at: clock, claims)
    }

    func signInByGoogle(_ subject: String = "77") async throws -> IdentityV1.SessionTokens {
        try await signIn(token: googleToken(subject), provider: "google").tokens
    }

    /// Links what a request says to the account of an access token.
    @discardableResult
    func link(
        _ accessToken: String,
        _ make: (inout IdentityV1.SignInRequest) throws -> Void
    ) async throws -> IdentityV1.Account {
        var request = IdentityV1.LinkProviderRequest()
        request.accessToken = accessToken
        request.credentials.nonce = TestProvider.rawNonce
        try make(&request.credentials)
        return try await client.linkProvider(request).account
    }

    /// Links Google by a token.
    @discardableResult
    func linkGoogle(_ accessToken: String, token: String) async throws -> IdentityV1.Account {
        try await link(accessToken) { ($0.provider, $0.idToken) = ("google", token) }
    }

    func unlink(_ accessToken: String, _ provider: String) async throws {
        _ = try await client.unlinkProvider(.with { ($0.accessToken, $0.provider) = (accessToken, provider) })
    }

    /// Which identity opens which account.
    func identities() async throws -> [String] {
        try await words(
            "SELECT provider || ' ' || subject || ' ' || user_id FROM provider_identities ORDER BY provider, subject"
        )
    }
}
