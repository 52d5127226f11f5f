import HTTPJSON
import HTTPTypes

/// The key sets, at the real paths after a prefix.
enum KeyRoutes {
    /// How long the sets may be cached, in seconds.
    static let maxAgeSeconds = 3600

    static func all(_ store: SimulatorStore) -> [Route] {
        [
            (Provider.apple, "/apple/auth/keys"), (.google, "/google/oauth2/v3/certs"),
            (.facebook, "/facebook/.well-known/oauth/openid/jwks"),
        ].map { provider, path in
            .of(provider, "keys", store, .get, path) { _, _ in
                .json(
                    await store.keys(provider),
                    headers: [.cacheControl: "public, max-age=\(maxAgeSeconds), must-revalidate, no-transform"]
                )
            }
        }
    }
}
