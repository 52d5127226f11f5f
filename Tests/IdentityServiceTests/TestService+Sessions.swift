import API
import JOSE
import Models
import Postgres
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

extension TestService {
    /// Signs a person in for a single token, with a provider's token that was never used.
    func signInSingle(
        subject: String = "001.person",
        style: IdentityV1.TokenStyle = .single
    ) async throws -> IdentityV1.SessionTokens {
        var request = IdentityV1.SignInRequest()
        request.provider = "apple"
        request.idToken = try provider.appleToken(subject: subject, at: clock, ["jti": .string(uniqueText())])
        request.nonce = TestProvider.rawNonce
        request.tokenStyle = style
        return try await client.signIn(request).tokens
    }

    /// Signs a person in with a provider's token that was never used.
    func signInAnew(subject: String = "001.person") async throws -> IdentityV1.SessionTokens {
        try await signIn(subject: subject, changes: ["jti": .string(uniqueText())]).tokens
    }

    private func uniqueText() -> String { Base64URL.encode(SecureRandom.bytes(12)) }

    func check(_ token: String, dialect: String) async throws -> IdentityV1.CheckSessionResponse {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = token
        request.dialect = dialect
        return try await client.checkSession(request)
    }

    func renew(_ token: String) async throws -> IdentityV1.SessionTokens {
        var request = IdentityV1.RenewSingleTokenRequest()
        request.singleToken = token
        return try await client.renewSingleToken(request).tokens
    }

    func signOut(_ scope: IdentityV1.SignOutScope, accessToken: String) async throws {
        var request = IdentityV1.SignOutRequest()
        request.accessToken = accessToken
        request.scope = scope
        _ = try await client.signOut(request)
    }

    func signOut(_ scope: IdentityV1.SignOutScope, refreshToken: String) async throws {
        var request = IdentityV1.SignOutRequest()
        request.refreshToken = refreshToken
        request.scope = scope
        _ = try await client.signOut(request)
    }

    /// Makes a session one that was proven so.
    func setProof(_ proof: String?, dialect: String? = nil, of tokens: IdentityV1.SessionTokens) async throws {
        let sessionID = try #require(SessionID(tokens.sessionID))
        let rows = try await database.execute(
            "UPDATE sessions SET proof = \(proof), dialect = \(dialect) WHERE session_id = \(sessionID.uuid)"
        )
        #expect(rows.affected == 1)
    }

    /// When a session was last used, in Unix milliseconds.
    func lastUsedAtMilliseconds(of tokens: IdentityV1.SessionTokens) async throws -> Int64 {
        let sessionID = try #require(SessionID(tokens.sessionID))
        let rows = try await database.query(
            "SELECT last_used_at FROM sessions WHERE session_id = \(sessionID.uuid)"
        )
        return try #require(rows.first).decode(0, as: PostgresTimestamp.self).milliseconds
    }

    /// How many uses came to this outcome.
    func uses(_ outcome: String) throws -> Int {
        var text = MetricsText()
        parts.methods.sessionUses.write(to: &text)
        let name = "vestibule_identity_session_uses_total{outcome=\"\(outcome)\"} "
        let line = try #require(text.text.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }
}
