import API
import IdentityDomain
import JOSE
import KeyRings
import Logging
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import TestDatabases
import Testing

@testable import IdentityService

/// The whole service over a real database, called without sockets.
struct TestService {
    let client: IdentityServiceClient
    let oauth: OAuthServiceClient
    let parts: IdentityParts
    let settings: IdentitySettings
    let database: PostgresClient
    let group: EventLoopGroup
    let provider: TestProvider
    let exchange: TestExchange
    let others: OtherServices
    /// Answers requests to servers outside.
    let http: TestHTTP
    let clock: TestClock

    /// The name in an operator's certificate.
    static let operatorName = "spiffe://vestibule/operator"
    /// The name in the certificate of a console.
    static let consoleName = "spiffe://vestibule/console"
    /// Identity's key of proofs.
    static let proofMaster = [UInt8](repeating: 5, count: CallerProofKey.byteCount)

    static let silentLogger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Runs `body` against a service with a database of its own, and takes everything down after it.
    static func run(
        limits: SessionLimits = SessionLimits(),
        gateways: CallerTrust = .everybody,
        unprovenDialects: Set<String> = [],
        namesAudiences: Bool = false,
        providers: [ProviderConfiguration]? = nil,
        keys: KeyFolder? = nil,
        phoneAssertions: PhoneAssertionPolicy? = nil,
        clients: [OAuthClient] = [],
        guests: GuestPolicy = GuestPolicy(),
        _ body: (TestService) async throws -> Void
    ) async throws {
        try await TestDatabase.withMigrated(IdentityMigrations.all, schema: "identity", hasOwner: false) { database in
            try await run(
                on: database.configuration,
                limits: limits,
                gateways: gateways,
                unprovenDialects: unprovenDialects,
                namesAudiences: namesAudiences,
                providers: providers,
                keys: keys,
                phoneAssertions: phoneAssertions,
                clients: clients,
                guests: guests,
                body
            )
        }
    }

    /// The same on a database that the test made.
    static func run(
        on configuration: PostgresConfiguration,
        limits: SessionLimits = SessionLimits(),
        gateways: CallerTrust = .everybody,
        unprovenDialects: Set<String> = [],
        namesAudiences: Bool = false,
        providers: [ProviderConfiguration]? = nil,
        keys: KeyFolder? = nil,
        phoneAssertions: PhoneAssertionPolicy? = nil,
        clients: [OAuthClient] = [],
        guests: GuestPolicy = GuestPolicy(),
        _ body: (TestService) async throws -> Void
    ) async throws {
        try await Migrator(configuration).run(IdentityMigrations.all, schema: "identity")
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let database = PostgresClient(configuration, group: group)
        let provider = try TestProvider()
        let exchange = TestExchange()
        let others = OtherServices()
        let http = TestHTTP()
        let clock = TestClock()
        let keySource = keys.map { TokenKeySource(folder: $0) }
        let ownKeys = try keySource?.read()
        let refreshKeys = try #require(ownKeys?.refreshKeys ?? RefreshKeys([SecureRandom.bytes(32)]))
        let settings = IdentitySettings(
            providers: try providers ?? TestProvider.providers(),
            issuer: TokenIssuer(
                issuer: "https://id.example.com",
                audience: "vestibule",
                lifetimeSeconds: limits.accessTokenSeconds,
                signingKey: try ownKeys?.signingKey ?? SigningKey.generateP256(),
                rsaKey: clients.contains { $0.idTokenAlgorithm == .rs256 } ? try SigningKey.generateRSA2048() : nil,
                otherKeys: ownKeys?.otherKeys ?? [],
                refreshKeys: refreshKeys
            ),
            refreshKeys: refreshKeys,
            keyRings: ownKeys?.rings ?? [],
            keySource: keySource,
            limits: limits,
            gateways: gateways,
            operators: .named([Self.operatorName]),
            operatorConsoles: .named([Self.consoleName]),
            proofs: try #require(ownKeys?.proofs ?? CallerProofParts(masters: [Self.proofMaster])),
            cursors: try #require(ownKeys?.cursors ?? CursorSeal(keys: [[UInt8](repeating: 9, count: 32)])),
            unprovenDialects: unprovenDialects,
            namesAudiences: namesAudiences,
            phoneAssertions: phoneAssertions,
            clients: Dictionary(clients.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }),
            guests: guests
        )
        let parts = IdentityParts(
            settings: settings,
            database: database,
            group: group,
            fetcher: provider,
            http: http,
            profile: others.profile,
            invites: others.invites,
            codes: [.apple: exchange],
            accessTokens: [.google: exchange],
            clock: clock.wallClock,
            monotonicNanoseconds: clock.monotonicNanoseconds,
            logger: silentLogger
        )
        var router = Router()
        router.add(parts.methods)
        router.add(parts.oauthMethods)
        let service = TestService(
            client: IdentityServiceClient(InProcessChannel(router)),
            oauth: OAuthServiceClient(InProcessChannel(router)),
            parts: parts,
            settings: settings,
            database: database,
            group: group,
            provider: provider,
            exchange: exchange,
            others: others,
            http: http,
            clock: clock
        )
        let fetching = Task { await parts.fetchProviderKeys() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(service))
        } catch {
            result = .failure(error)
        }
        fetching.cancel()
        await fetching.value
        await database.shutdown()
        await group.shutdown()
        try result.get()
    }

    /// Moves the clock on while the service runs.
    func pass(seconds: Int64) {
        for _ in 0..<seconds {
            clock.advance(seconds: 1)
            parts.methods.pauses.tick(nowMilliseconds: clock.nowMilliseconds)
        }
    }

    /// Signs a person in with a token of this moment.
    func signIn(
        subject: String = "001.person",
        fullName: String = "",
        deviceName: String = "",
        changes: [String: JSONValue?] = [:]
    ) async throws -> IdentityV1.SignInResponse {
        let token = try provider.appleToken(subject: subject, at: clock, changes)
        return try await signIn(token: token, fullName: fullName, deviceName: deviceName)
    }

    func signIn(
        token: String,
        provider: String = "apple",
        nonce: String = TestProvider.rawNonce,
        code: String = "",
        fullName: String = "",
        email: String = "",
        deviceName: String = ""
    ) async throws -> IdentityV1.SignInResponse {
        var request = IdentityV1.SignInRequest()
        request.provider = provider
        request.idToken = token
        request.nonce = nonce
        request.authorizationCode = code
        request.fullName = fullName
        request.email = email
        request.deviceName = deviceName
        return try await client.signIn(request)
    }

    func refresh(_ token: String, presentedAtMilliseconds: Int64 = 0) async throws -> IdentityV1.RefreshResponse {
        var request = IdentityV1.RefreshRequest()
        request.refreshToken = token
        request.presentedAtMilliseconds = presentedAtMilliseconds
        return try await client.refresh(request)
    }

    /// A refresh by a caller whose certificate has these names.
    func refresh(
        _ token: String,
        presentedAtMilliseconds: Int64,
        certificateNames: [String]
    ) async throws -> IdentityV1.RefreshResponse {
        var request = IdentityV1.RefreshRequest()
        request.refreshToken = token
        request.presentedAtMilliseconds = presentedAtMilliseconds
        let call = ServerCall(
            method: MethodDescriptor(service: "vestibule.identity.v1.IdentityService", method: "Refresh"),
            metadata: Metadata(),
            deadline: nil,
            peer: PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: certificateNames)
        )
        return try await parts.methods.refresh(request, context: ServerContext(call))
    }

    /// How often refreshes came to this outcome.
    func refreshes(_ outcome: String) -> String? {
        var text = MetricsText()
        parts.methods.refreshes.write(to: &text)
        let name = "vestibule_identity_refreshes_total{outcome=\"\(outcome)\"} "
        return text.text.split(separator: "\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// Has the folder of our own keys read again.
    func readKeys() async { await parts.keyReader?.read() }

    func check(_ token: String) async throws -> IdentityV1.CheckSessionResponse {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = token
        return try await client.checkSession(request)
    }

    func signOut(accessToken: String) async throws {
        var request = IdentityV1.SignOutRequest()
        request.accessToken = accessToken
        _ = try await client.signOut(request)
    }

    func signOut(refreshToken: String) async throws {
        var request = IdentityV1.SignOutRequest()
        request.refreshToken = refreshToken
        _ = try await client.signOut(request)
    }

    /// An account as its person sees it.
    func account(_ userID: String) async throws -> IdentityV1.Account {
        try await client.getAccount(IdentityV1.GetAccountRequest(), options: options(for: userID)).account
    }

    /// What a gateway calls identity with on behalf of a user.
    func options(for userID: String) throws -> CallOptions {
        let proofs = settings.proofs.mint.proofs(
            of: try #require(UserID(userID)),
            nowMilliseconds: clock.nowMilliseconds
        )
        var options = CallOptions()
        options.metadata.add(CallerProofKey.metadataName, proofs.identity)
        return options
    }

    /// The number of rows of a table.
    func count(_ table: String) async throws -> Int64 {
        let rows = try await database.query("SELECT count(*) FROM \(unsafeSQL: table)")
        return try #require(rows.first).decode(0, as: Int64.self)
    }
}

/// Whether the body fails with this code and reason.
func expectFailure(
    _ code: Status.Code,
    _ reason: String?,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("nothing was refused; expected \(reason ?? "no reason")", sourceLocation: sourceLocation)
    } catch let error as RPCError {
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(error.reason == reason, sourceLocation: sourceLocation)
    } catch {
        Issue.record("threw \(error); expected \(reason ?? "no reason")", sourceLocation: sourceLocation)
    }
}
