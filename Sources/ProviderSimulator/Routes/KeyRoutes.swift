import HTTPJSON
import HTTPTypes
import Hummingbird

/// `GET /apple/auth/keys` and `GET /google/oauth2/v3/certs`: the key sets, at the real paths under a prefix.
enum KeyRoutes {
    /// How long the sets may be cached, in seconds.
    static let maxAgeSeconds = 3600

    static func all(_ store: SimulatorStore) -> [Route] {
        [
            Route(.get, "/apple/auth/keys") { _, context in try await answer(.apple, store) },
            Route(.get, "/google/oauth2/v3/certs") { _, context in try await answer(.google, store) },
        ]
    }

    private static func answer(_ provider: Provider, _ store: SimulatorStore) async throws -> Response {
        let (set, misbehaviour) = await store.keys(provider)
        switch misbehaviour {
        case .off:
            break
        case .slow(let milliseconds):
            try await Task.sleep(for: .milliseconds(milliseconds))
        case .error(let status):
            throw Problem(
                .init(code: Int(status)),
                code: "MISBEHAVING",
                detail: "The simulator was told to fail here."
            )
        }
        return .json(
            set,
            headers: [.cacheControl: "public, max-age=\(maxAgeSeconds), must-revalidate, no-transform"]
        )
    }
}
