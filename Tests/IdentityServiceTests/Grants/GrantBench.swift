import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Synchronization
import TestWaits
import Testing

@testable import IdentityService

/// Simulates an Apple that issues, checks and revokes refresh tokens, with failures on request.
final class GrantingApple: Sendable {
    /// Replaces the answer of an endpoint; nil lets it work as usual.
    typealias Trouble = @Sendable (OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse?

    private struct State {
        var answers: [String: String] = [:]
        var checked: [String] = []
        var revoked: [String] = []
        var refused: Set<String> = []
        var trouble: Trouble = { _ throws(OutgoingHTTPError) in nil }
    }

    private let state = Mutex(State())

    /// The tokens that were checked, in order.
    var checked: [String] { state.withLock { $0.checked } }
    /// The tokens that were revoked, in order; each time counts.
    var revoked: [String] { state.withLock { $0.revoked } }

    /// Makes a code return this answer.
    func give(_ answer: String, for code: String) { state.withLock { $0.answers[code] = answer } }

    /// The person withdrew the consent behind this token.
    func refuse(_ token: String) { state.withLock { _ = $0.refused.insert(token) } }

    /// Uses these replacements from now on.
    func setTrouble(_ trouble: @escaping Trouble) { state.withLock { $0.trouble = trouble } }

    /// Answers each call this from now on, or works as usual again.
    func setTrouble(_ status: Int?, _ body: String = "") {
        setTrouble { _ throws(OutgoingHTTPError) in
            status.map { OutgoingResponse(status: $0, body: Array(body.utf8)) }
        }
    }

    func answer(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
        let trouble = state.withLock { $0.trouble }
        if let answer = try await trouble(request) { return answer }
        return work(request)
    }

    /// The usual answer of the endpoint.
    func work(_ request: OutgoingRequest) -> OutgoingResponse {
        state.withLock { state in
            let invalid = OutgoingResponse(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8))
            if request.url.hasSuffix("/revoke") {
                state.revoked.append(request.field("token") ?? "")
                return OutgoingResponse(status: 200, body: [])
            }
            if let token = request.field("refresh_token") {
                state.checked.append(token)
                if state.refused.contains(token) { return invalid }
                return OutgoingResponse(status: 200, body: Array(#"{"access_token":"a"}"#.utf8))
            }
            guard let answer = state.answers[request.field("code") ?? ""] else { return invalid }
            return OutgoingResponse(status: 200, body: Array(answer.utf8))
        }
    }
}

/// An ``ExchangeBench`` with a vault and an Apple that issues tokens.
struct GrantBench: Sendable {
    let bench: ExchangeBench
    let apple: GrantingApple

    static let oldKey = (id: "old", bytes: [UInt8](repeating: 1, count: 32))
    static let newKey = (id: "new", bytes: [UInt8](repeating: 2, count: 32))

    static func run(replicas: Int = 1, hasVault: Bool = true, _ body: (GrantBench) async throws -> Void) async throws {
        let vault = hasVault ? VaultKeys(current: oldKey) : nil
        try await ExchangeBench.run(replicas: replicas, vault: vault) { bench in
            let apple = GrantingApple()
            bench.http.answer { request throws(OutgoingHTTPError) in try await apple.answer(request) }
            try await body(GrantBench(bench: bench, apple: apple))
        }
    }

    var store: IdentityStore { bench.store }
    var grants: ProviderGrants { bench.replicas[0].grants }
    var now: Int64 { bench.clock.nowMilliseconds }

    /// Signs a person in with an ID token, whose nonce proves it, and a code that is exchanged for a refresh token.
    @discardableResult
    func signIn(
        _ subject: String = "001.person",
        code: String = "c0de",
        refreshToken: String = "r.first",
        codeOf owner: String? = nil
    ) async throws -> IdentityV1.SignInResponse {
        try giveToken(owner ?? subject, code: code, refreshToken: refreshToken)
        var request = IdentityV1.SignInRequest()
        request.provider = "apple"
        let jti: [String: JSONValue?] = ["c_hash": nil as JSONValue?, "jti": .string(code)]
        request.idToken = try bench.provider.appleToken(subject: subject, at: bench.clock, jti)
        request.nonce = TestProvider.rawNonce
        request.authorizationCode = code
        return try await bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
    }

    /// Signs a person in with a code alone.
    @discardableResult
    func signInByCode(_ code: String, replica: Int = 0) async throws -> IdentityV1.SignInResponse {
        var request = IdentityV1.SignInRequest()
        request.provider = "apple"
        request.clientID = "com.example.app"
        request.authorizationCode = code
        return try await bench.replicas[replica].methods.signIn(request, context: ExchangeBench.context("SignIn"))
    }

    /// Makes a code return a refresh token.
    func giveToken(_ subject: String, code: String, refreshToken: String) throws {
        let plain = try bench.answer(subject: subject, ["jti": .string("exchanged \(code)")])
        apple.give(plain.replacing(#""refresh_token":"r""#, with: #""refresh_token":"\#(refreshToken)""#), for: code)
    }

    /// Stores a token for each of `count` signed-in people, as their sign-ins would.
    func keepTokens(_ count: Int) async throws -> [IdentityV1.SignInResponse] {
        var people: [IdentityV1.SignInResponse] = []
        for index in 0..<count {
            people.append(try await signIn("00\(index).person", code: "c\(index)", refreshToken: "r\(index)"))
        }
        try await waitForTokens(count)
        return people
    }

    /// Waits until this many tokens are stored.
    func waitForTokens(_ count: Int, state: String = "kept") async throws {
        try await eventually("\(count) tokens \(state)") { try await rows(state) == count }
    }

    /// The number of tokens in a state.
    func rows(_ state: String) async throws -> Int {
        let rows = try await store.database.query("SELECT count(*) FROM provider_grants WHERE state = \(state)")
        return Int(try #require(rows.first).decode(0, as: Int64.self))
    }

    /// The only token, decrypted.
    func onlyToken(_ keys: VaultKeys? = nil) async throws -> String {
        let rows = try await store.database.query(
            "SELECT \(unsafeSQL: IdentityStore.grantColumns) FROM provider_grants"
        )
        #expect(rows.count == 1)
        let grant = try #require(rows.first).grant()
        return try #require(keys ?? bench.methods.ownKeys.current.vault).open(grant.sealed, at: grant.place)
    }

    /// Marks an account's tokens for revocation, as its deletion does.
    @discardableResult
    func abandon(_ userID: String, provider: ProviderName? = nil) async throws -> Int {
        let id = try #require(UserID(userID))
        return try await store.database.withTransaction { transaction in
            try await store.abandonGrants(of: id, provider: provider, in: transaction)
        }
    }

    /// Uses other keys from now on.
    func use(_ keys: VaultKeys, replica: Int = 0) throws {
        let own = bench.replicas[replica].methods.ownKeys
        let proofs = try #require(CallerProofParts(masters: [TestService.proofMaster]))
        own.replace(KeysInUse(mint: own.current.mint, proofs: proofs, vault: keys, cursors: own.current.cursors))
    }

    /// The number of an account's sessions that ended for this reason; nil counts live ones.
    func sessions(_ userID: String, _ reason: String?) async throws -> Int64 {
        let id = try #require(UserID(userID)).uuid
        let rows = try await store.database.query(
            "SELECT count(*) FROM sessions WHERE user_id = \(id) AND revoke_reason IS NOT DISTINCT FROM \(reason)"
        )
        return try #require(rows.first).decode(0)
    }

    /// The value of a metric of a replica, labels included in the name.
    func metric(_ name: String, replica: Int = 0) -> String? {
        var text = MetricsText()
        bench.replicas[replica].grants.metrics.write(to: &text)
        return text.text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }
}
