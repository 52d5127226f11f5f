import API
import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceModels
import Synchronization
import Testing

@testable import IdentityService

/// Simulates Apple during a transfer of apps to another team, with failures on request.
final class MigratingApple: Sendable {
    /// Replaces the answer to a request; nil lets it be answered as usual.
    typealias Trouble = @Sendable (_ number: Int, OutgoingRequest) -> OutgoingResponse?

    private struct State {
        var questions = 0
        var tokens = 0
        var asked: [String] = []
        var unknown: Set<String> = []
        var trouble: Trouble = { _, _ in nil }
    }

    private let state = Mutex(State())

    /// Whom it answered about, by subject or transfer identifier, in order.
    var asked: [String] { state.withLock { $0.asked } }
    /// How many access tokens it issued.
    var tokens: Int { state.withLock { $0.tokens } }

    func setTrouble(_ trouble: @escaping Trouble) {
        state.withLock { ($0.trouble, $0.questions) = (trouble, 0) }
    }

    /// Doesn't know this subject from now on.
    func forget(_ subject: String) { state.withLock { _ = $0.unknown.insert(subject) } }

    /// The transfer identifier of a subject.
    static func transferSubject(_ subject: String) -> String { "t-NEWTEAM001-\(subject)" }

    /// The subject that the new team gets for a former one.
    static func newSubject(_ subject: String) -> String { "new-\(subject)" }

    func answer(_ request: OutgoingRequest) -> OutgoingResponse {
        state.withLock { state in
            state.questions += 1
            if let answer = state.trouble(state.questions, request) { return answer }
            if request.field("grant_type") == "client_credentials" {
                guard request.field("scope") == "user.migration" else { return Self.refusal }
                state.tokens += 1
                return Self.json([
                    "access_token": .string("a\(state.tokens)"), "token_type": "Bearer", "expires_in": 3600,
                ])
            }
            let token = request.headers.first { $0.name == "authorization" }?.value
            guard token == "Bearer a\(state.tokens)" else { return Self.json(["error": "invalid_token"], status: 401) }
            if let transferSubject = request.field("transfer_sub") {
                let former = transferSubject.dropFirst("t-NEWTEAM001-".count)
                guard transferSubject.hasPrefix("t-NEWTEAM001-"), !state.unknown.contains(String(former)) else {
                    return Self.refusal
                }
                state.asked.append(transferSubject)
                return Self.json([
                    "sub": .string(Self.newSubject(String(former))), "email": "new@privaterelay.appleid.com",
                    "is_private_email": true,
                ])
            }
            guard let subject = request.field("sub"), request.field("target") == "NEWTEAM001",
                !state.unknown.contains(subject)
            else { return Self.refusal }
            state.asked.append(subject)
            return Self.json(["transfer_sub": .string(Self.transferSubject(subject))])
        }
    }

    static let refusal = json(["error": "invalid_request"], status: 400)

    static func json(_ object: JSONObject, status: Int = 200) -> OutgoingResponse {
        OutgoingResponse(status: status, body: object.serialized())
    }
}

/// A ``GrantBench`` and an Apple that transfers users.
struct TransferBench: Sendable {
    let bench: GrantBench
    let apple = MigratingApple()
    private let http = TestHTTP()

    static let transfer = TeamTransfer(from: "OLDTEAM001", to: "NEWTEAM001")

    static func run(_ body: (TransferBench) async throws -> Void) async throws {
        try await GrantBench.run { try await body(TransferBench(bench: $0)) }
    }

    var store: IdentityStore { bench.store }
    var now: Int64 { bench.now }

    /// The command for one step, without pauses.
    func command(_ step: AppleTransferOrder.Step, isDry: Bool = false, perSecond: Int = 3) throws -> AppleTransfer {
        let apple = apple
        http.answer { request throws(OutgoingHTTPError) in apple.answer(request) }
        var teamID = Self.transfer.from
        if case .import = step { teamID = Self.transfer.to }
        return AppleTransfer(
            store: store,
            endpoint: try UserMigrationEndpoint(
                [.apple: try Self.provider(teamID: teamID)],
                clientID: nil,
                http: http,
                clock: bench.bench.clock.wallClock
            ),
            order: AppleTransferOrder(step, perSecond: perSecond, isDry: isDry),
            clock: bench.bench.clock.wallClock,
            pause: { _ in }
        )
    }

    /// Runs the former team's step.
    @discardableResult
    func export(_ tell: @escaping @Sendable (AppleTransferEvent) -> Void = { _ in }) async throws
        -> AppleTransferProgress
    {
        try await command(.export(to: Self.transfer.to)).run(tell)
    }

    /// Runs the new team's step.
    @discardableResult
    func takeOver(_ tell: @escaping @Sendable (AppleTransferEvent) -> Void = { _ in }) async throws
        -> AppleTransferProgress
    {
        try await command(.import(from: Self.transfer.from)).run(tell)
    }

    static func provider(teamID: String, apps: [String] = ["com.example.app"]) throws -> ProviderConfiguration {
        let key = try SigningKey.generateP256()
        return ProviderConfiguration(
            policy: try ProviderPolicy(
                name: .apple,
                issuers: ["https://appleid.apple.com"],
                audiences: apps.map { AudiencePolicy(id: $0, match: .sha256) },
                keysURL: "http://127.0.0.1:1/apple"
            ),
            endpoints: ProviderEndpoints(
                tokenURL: "https://provider.example/apple/token",
                userMigrationURL: "https://provider.example/apple/usermigrationinfo"
            ),
            credentials: Dictionary(
                uniqueKeysWithValues: apps.map { ($0, .apple(teamID: teamID, keyID: "KEY1234567", key: key)) }
            )
        )
    }

    /// The claims of a token for a user whom another team knew as `subject`.
    static func arrival(_ subject: String) -> [String: JSONValue?] {
        ["transfer_sub": .string(MigratingApple.transferSubject(subject)), "c_hash": nil as JSONValue?]
    }

    /// Signs in by a token of the new team, with the transfer identifier unless the 60 days are over.
    func signInAfter(_ subject: String, tells: Bool = true, createsAccount: Bool = true) async throws
        -> IdentityV1.SignInResponse
    {
        let request = try credentialsAfter(subject, tells: tells, createsAccount: createsAccount)
        return try await bench.bench.methods.signIn(request, context: ExchangeBench.context("SignIn"))
    }

    func credentialsAfter(
        _ subject: String,
        tells: Bool = true,
        createsAccount: Bool = true
    ) throws -> IdentityV1.SignInRequest {
        var request = IdentityV1.SignInRequest()
        (request.provider, request.nonce) = ("apple", TestProvider.rawNonce)
        request.create = createsAccount
        request.idToken = try bench.bench.provider.appleToken(
            subject: MigratingApple.newSubject(subject),
            at: bench.bench.clock,
            tells ? Self.arrival(subject) : ["c_hash": nil as JSONValue?]
        )
        return request
    }

    /// The known subjects, in order.
    func subjects() async throws -> [String] {
        try await store.database.query("SELECT subject FROM provider_identities ORDER BY subject").map {
            try $0.decode(0)
        }
    }

    /// How many transfers are waiting, and how many are done.
    func transfers() async throws -> [Int64] {
        let row = try await store.database.query(
            "SELECT count(*) FILTER (WHERE imported_at IS NULL), count(imported_at) FROM apple_transfers"
        ).first
        let counts = try #require(row).decode(Int64.self, Int64.self)
        return [counts.0, counts.1]
    }
}
