import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import Synchronization
import Testing

@testable import ProviderSimulator

/// A simulator with a test's own clock and codes, called without sockets.
struct Simulation {
    static let nowSeconds: Int64 = 1_800_000_000

    /// Keys are made once: each takes long in a debug build.
    static let freshState = Result { try SimulatorState.withNewKeys() }

    let store: SimulatorStore
    private let clock: Clock

    init(file: StateFile? = nil, clients: ClientRegistry = ClientRegistry()) throws {
        let clock = Clock()
        let count = Mutex(0)
        let environment = SimulatorStore.Environment(
            nowSeconds: { clock.nowSeconds },
            randomBytes: { byteCount in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let bytes = SHA256.hash("\(number)")
                return (0..<byteCount).map { bytes[$0 % bytes.count] }
            }
        )
        self.clock = clock
        store = try SimulatorStore(
            file: file,
            clients: clients,
            environment: environment,
            makeState: { try Self.freshState.get() }
        )
    }

    /// Advances the clock.
    func advance(seconds: Int64) { clock.advance(seconds) }

    /// A request as it is; answers of any kind.
    func ask(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ body: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> HandlerClient.Answer {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let client = HandlerClient(Simulator.handler(store, logger: logger))
        return try await client.send(method, uri, headers: headers, body: Array((body ?? "").utf8))
    }

    /// A request with JSON, or none, for an answer with JSON.
    func send(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> (
        HandlerClient.Answer, JSONObject
    ) {
        let response = try await ask(
            method,
            uri,
            body,
            headers: body == nil ? [:] : [.contentType: "application/json"]
        )
        return (response, try JSONObject(parsing: response.body))
    }

    /// A form for an answer with JSON.
    func post(
        _ uri: String,
        _ fields: [(String, String)],
        headers: HTTPFields = [:]
    ) async throws -> (HandlerClient.Answer, JSONObject) {
        let response = try await ask(.post, uri, Self.form(fields), headers: headers.merging(Self.formType))
        return (response, try JSONObject(parsing: response.body))
    }

    /// A form for a page.
    func postForPage(_ uri: String, _ fields: [(String, String)]) async throws -> (HandlerClient.Answer, String) {
        let response = try await ask(.post, uri, Self.form(fields), headers: Self.formType)
        return (response, response.text)
    }

    private static let formType: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]

    static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\(FormFields.encode($0.0))=\(FormFields.encode($0.1))" }.joined(separator: "&")
    }

    /// A sign-in whose answer must be 200.
    func signIn(_ provider: String, _ body: String) async throws -> JSONObject {
        let (response, answer) = try await send(.post, "/control/\(provider)/sign-in", body)
        try #require(response.status == .ok, "\(answer.text)")
        return answer
    }

    /// The keys that a provider publishes, parsed as identity parses them.
    func keys(_ provider: String) async throws -> KeySet {
        let paths = [
            "apple": "/apple/auth/keys", "google": "/google/oauth2/v3/certs",
            "facebook": "/facebook/.well-known/oauth/openid/jwks/",
        ]
        let (response, body) = try await send(.get, try #require(paths[provider]))
        try #require(response.status == .ok)
        return try KeySet(parsing: body.serialized())
    }

    /// The claims of a token that verifies with a provider's published keys; throws if it does not.
    func verifiedClaims(_ token: String?, _ provider: String) async throws -> JSONObject {
        let jws = try CompactJWS(parsing: try #require(token))
        let keyID = try #require(jws.keyID)
        let key = try #require(try await keys(provider).key(id: keyID, algorithm: jws.algorithm))
        return try JSONObject(parsing: jws.verifiedPayload(with: key))
    }

    /// The claims of a token as anyone can read them.
    static func unverifiedClaims(_ token: String?) throws -> JSONObject {
        let parts = try #require(token).split(separator: ".", omittingEmptySubsequences: false)
        return try JSONObject(parsing: try #require(Base64URL.decode(parts[1])))
    }
}

/// A clock that the test advances.
private final class Clock: Sendable {
    private let seconds = Mutex(Simulation.nowSeconds)

    var nowSeconds: Int64 { seconds.withLock { $0 } }

    func advance(_ seconds: Int64) { self.seconds.withLock { $0 += seconds } }
}

extension HTTPFields {
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var merged = self
        for field in others { merged[field.name] = field.value }
        return merged
    }
}
