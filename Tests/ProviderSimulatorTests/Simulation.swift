import HTTPJSON
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JOSE
import Logging
import NIOCore
import Synchronization
import Testing

@testable import ProviderSimulator

/// A simulator with a clock and codes of the test's, asked without sockets.
struct Simulation {
    static let nowSeconds: Int64 = 1_800_000_000

    /// Keys are made once: each takes long in a debug build.
    private static let freshState = Result { try SimulatorState.withNewKeys() }

    let store: SimulatorStore

    init(file: StateFile? = nil) throws {
        let count = Mutex<UInt8>(0)
        let environment = SimulatorStore.Environment(
            nowSeconds: { Self.nowSeconds },
            randomBytes: { byteCount in
                let value = count.withLock { count in
                    count += 1
                    return count
                }
                return Array(repeating: value, count: byteCount)
            }
        )
        store = try SimulatorStore(file: file, environment: environment, makeState: { try Self.freshState.get() })
    }

    func send(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil) async throws -> (
        TestResponse, JSONObject
    ) {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = Simulator.server(
            store,
            configuration: HTTPServer.Configuration(host: "127.0.0.1", port: 0, limits: Simulator.limits),
            logger: logger
        )
        let response = try await server.application().test(.router) { client in
            try await client.execute(
                uri: uri,
                method: method,
                headers: body == nil ? [:] : [.contentType: "application/json"],
                body: body.map { ByteBuffer(string: $0) }
            )
        }
        return (response, try JSONObject(parsing: Array(response.body.readableBytesView)))
    }

    /// A sign-in whose answer must be 200.
    func signIn(_ provider: String, _ body: String) async throws -> JSONObject {
        let (response, answer) = try await send(.post, "/control/\(provider)/sign-in", body)
        try #require(response.status == .ok, "\(answer.text)")
        return answer
    }

    /// The keys that a provider publishes, parsed as identity parses them.
    func keys(_ provider: String) async throws -> KeySet {
        let path = provider == "apple" ? "/apple/auth/keys" : "/google/oauth2/v3/certs"
        let (response, body) = try await send(.get, path)
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
