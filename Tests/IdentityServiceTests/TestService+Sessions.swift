import API
import JOSE
import Models
import Postgres
import ServiceKit
import ServiceModels
import SwiftProtobuf
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

    func sessions(_ accessToken: String) async throws -> [IdentityV1.Session] {
        try await client.listSessions(.with { $0.accessToken = accessToken }).sessions
    }

    func rename(_ sessionID: String, to name: String, accessToken: String) async throws -> IdentityV1.Session {
        let request = IdentityV1.RenameSessionRequest.with {
            ($0.accessToken, $0.sessionID, $0.deviceName) = (accessToken, sessionID, name)
        }
        return try await client.renameSession(request).session
    }

    func end(_ sessionID: String, accessToken: String) async throws {
        _ = try await client.endSession(.with { ($0.accessToken, $0.sessionID) = (accessToken, sessionID) })
    }

    /// Ends the sessions of everybody, as an operator.
    func endAllSessions() async throws {
        _ = try await parts.methods.store.endSessions(.all, count: 0, clock.wallClock)
    }

    /// Why sessions were ended, one word each, in the order of the words.
    func revokeReasons() async throws -> [String] {
        let rows = try await database.query(
            "SELECT revoke_reason FROM sessions WHERE revoked_at IS NOT NULL ORDER BY revoke_reason"
        )
        return try rows.map { try $0.decode(0, as: String.self) }
    }

    /// Makes a session one that was proven so.
    func setProof(_ proof: String, dialect: String? = nil, of tokens: IdentityV1.SessionTokens) async throws {
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
