import API
import IdentityDomain
import JOSE
import Logging
import OutgoingHTTP
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Synchronization
import TestDatabases
import Testing

@testable import IdentityService

/// Replicas of the service over one database, with providers that answer as a test says.
struct ExchangeBench: Sendable {
    let replicas: [IdentityParts]
    let store: IdentityStore
    let provider: TestProvider
    let http: TestHTTP
    let clock: TestClock
    let log: TestLog
    let appleKey: SigningKey

    static let appSecret = "the-app-secret"

    /// Runs the body with the given number of replicas.
    ///
    /// - Parameters:
    /// - client: sends requests to providers instead of ``http``, for tests that need sockets.
    /// - vault: keys for providers' tokens; without them none is kept.
    static func run(
        replicas count: Int = 1,
        baseURL: String = "https://provider.example",
        client: (any OutgoingClient)? = nil,
        vault: VaultKeys? = nil,
        _ body: (ExchangeBench) async throws -> Void
    ) async throws {
        try await TestDatabase.withMigrated(IdentityMigrations.all, schema: "identity", hasOwner: false) { fresh in
            try await run(on: fresh, replicas: count, baseURL: baseURL, client: client, vault: vault, body)
        }
    }

    private static func run(
        on fresh: TestDatabase,
        replicas count: Int,
        baseURL: String,
        client: (any OutgoingClient)?,
        vault: VaultKeys?,
        _ body: (ExchangeBench) async throws -> Void
    ) async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let database = PostgresClient(fresh.configuration, group: group)
        let (provider, http, clock, log) = (try TestProvider(), TestHTTP(), TestClock(), TestLog())
        let appleKey = try SigningKey.generateP256()
        let settings = try settings(baseURL: baseURL, appleKey: appleKey, vault: vault)
        let replicas = (0..<count).map { _ in
            IdentityParts(
                settings: settings,
                database: database,
                group: group,
                fetcher: provider,
                http: client ?? http,
                profile: OtherServices.profile,
                invites: OtherServices.invites,
                clock: clock.wallClock,
                logger: log.logger
            )
        }
        let bench = ExchangeBench(
            replicas: replicas,
            store: IdentityStore(database: database, limits: settings.limits),
            provider: provider,
            http: http,
            clock: clock,
            log: log,
            appleKey: appleKey
        )
        let running = Task {
            await withDiscardingTaskGroup { tasks in
                for parts in replicas {
                    tasks.addTask { await parts.fetchProviderKeys() }
                    tasks.addTask { await parts.exchangeCodes() }
                    tasks.addTask { await parts.grants.keeper.run() }
                }
            }
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        await running.value
        await database.shutdown()
        await group.shutdown()
        try result.get()
    }

    private static func settings(baseURL: String, appleKey: SigningKey, vault: VaultKeys?) throws -> IdentitySettings {
        let refreshKeys = try #require(RefreshKeys([SecureRandom.bytes(32)]))
        return IdentitySettings(
            providers: try providers(baseURL: baseURL, appleKey: appleKey),
            issuer: TokenIssuer(
                issuer: "https://id.example.com",
                audience: "vestibule",
                lifetimeSeconds: 600,
                signingKey: try SigningKey.generateP256(),
                refreshKeys: refreshKeys
            ),
            refreshKeys: refreshKeys,
            vault: vault,
            proofs: try #require(CallerProofParts(masters: [TestService.proofMaster])),
            cursors: try #require(CursorSeal(keys: [[UInt8](repeating: 9, count: 32)]))
        )
    }

    private static func providers(baseURL: String, appleKey: SigningKey) throws -> [ProviderConfiguration] {
        func policy(_ name: String, _ issuer: String, _ audiences: [String]) throws -> ProviderPolicy {
            try ProviderPolicy(
                name: try #require(ProviderName(name)),
                issuers: [issuer],
                audiences: audiences.map { AudiencePolicy(id: $0, match: .sha256) },
                algorithms: [.es256],
                keysURL: "http://127.0.0.1:1/\(name)"
            )
        }
        var apple = ProviderEndpoints()
        apple.tokenURL = baseURL + "/apple/token"
        apple.revocationURL = baseURL + "/apple/revoke"
        var google = ProviderEndpoints()
        google.tokenURL = baseURL + "/google/token"
        google.tokenInfoURL = baseURL + "/google/tokeninfo"
        google.userInfoURL = baseURL + "/google/userinfo"
        var facebook = ProviderEndpoints()
        facebook.debugTokenURL = baseURL + "/facebook/debug_token"
        facebook.userInfoURL = baseURL + "/facebook/me"
        let appleCredential = ClientCredential.apple(teamID: "ABCDE12345", keyID: "KEY1234567", key: appleKey)
        return [
            ProviderConfiguration(
                policy: try policy(
                    "apple",
                    "https://appleid.apple.com",
                    ["com.example.app", "com.example.debug", "com.example.bare"]
                ),
                endpoints: apple,
                credentials: ["com.example.app": appleCredential, "com.example.debug": appleCredential]
            ),
            ProviderConfiguration(
                policy: try policy("google", "https://accounts.google.com", ["web", "ios"]),
                endpoints: google,
                credentials: ["web": .secret(Secret("the-web-secret"))],
                accessTokens: .google
            ),
            ProviderConfiguration(
                policy: try policy("facebook", "https://www.facebook.com", ["1234567890", "2222222222"]),
                endpoints: facebook,
                credentials: ["1234567890": .secret(Secret(appSecret))],
                accessTokens: .facebook
            ),
        ]
    }

    /// The methods of the first replica.
    var methods: IdentityMethods { replicas[0].methods }

    /// Exchanges a code at Apple.
    func exchange(
        _ code: String,
        clientID: String = "com.example.app",
        redirectURI: String = "",
        codeVerifier: String = "",
        provider: ProviderName = .apple,
        address: [UInt8]? = nil,
        replica: Int = 0,
        deadline: Deadline? = nil
    ) async throws -> ExchangedCode {
        try await #require(replicas[replica].methods.codes[provider]).claims(
            code: code,
            clientID: clientID,
            redirectURI: redirectURI,
            codeVerifier: codeVerifier,
            address: address,
            deadline: deadline
        )
    }

    /// A new code of Apple's for the first app.
    static func grant(_ code: String) -> CodeGrant? {
        CodeGrant(provider: .apple, clientID: "com.example.app", code: code, redirectURI: "", codeVerifier: "")
    }

    /// The context of a call, without an address.
    static func context(_ method: String) -> ServerContext {
        ServerContext(
            ServerCall(
                method: MethodDescriptor(service: "vestibule.identity.v1.IdentityService", method: method),
                metadata: Metadata(),
                deadline: nil,
                peer: PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: [])
            )
        )
    }

    /// Asks the provider who an access token belongs to.
    func check(
        _ token: String,
        _ provider: String,
        clientID: String,
        address: [UInt8]? = nil,
        deadline: Deadline? = nil
    ) async throws -> ExchangedCode {
        let name = try #require(ProviderName(provider))
        return try await #require(replicas[0].methods.accessTokens[name]).claims(
            accessToken: token,
            clientID: clientID,
            address: address,
            deadline: deadline
        )
    }

    /// The token endpoint's answer with a fresh token. It has no nonce that a client could know.
    func answer(subject: String = "001.person", _ changes: [String: JSONValue?] = [:], key: SigningKey? = nil) throws
        -> String
    {
        let own: [String: JSONValue?] = ["nonce": "unknown", "c_hash": nil]
        let token = try provider.appleToken(
            subject: subject,
            at: clock,
            own.merging(changes) { _, change in change },
            key: key
        )
        let answer: JSONObject = [
            "access_token": "a", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r",
            "id_token": .string(token),
        ]
        return String(decoding: answer.serialized(), as: UTF8.self)
    }

    /// The value of a counter of a replica.
    func count(_ provider: String, _ question: String, _ outcome: String, replica: Int = 0) -> String? {
        var text = MetricsText()
        for source in replicas[replica].metrics { source.write(to: &text) }
        let name =
            "vestibule_identity_provider_questions_total{provider=\"\(provider)\",question=\"\(question)\","
            + "outcome=\"\(outcome)\"} "
        return text.text.split(separator: "\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// The number of known codes.
    func codeCount() async throws -> Int64 {
        let rows = try await store.database.query("SELECT count(*) FROM code_exchanges")
        return try #require(rows.first).decode(0)
    }

}

/// Collects log entries.
final class TestLog: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger {
        var logger = Logger(label: "test", factory: { _ in Handler(log: self) })
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        init(log: TestLog) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.level) \(event.message) \(event.metadata ?? [:])"
            log.lines.withLock { $0.append(line) }
        }
    }
}
