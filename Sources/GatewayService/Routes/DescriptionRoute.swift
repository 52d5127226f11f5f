import HTTPJSON
import HTTPTypes
import Hummingbird

/// `GET /openapi.json`: the description of all routes.
enum DescriptionRoute {
    /// How long the description may be cached, in seconds.
    static let maxAgeSeconds = 300

    static func route() -> Route {
        Route(.get, "/openapi.json") { _, _ in
            .json(bytes: OpenAPI.document.utf8, headers: [.cacheControl: "public, max-age=\(maxAgeSeconds)"])
        }
    }
}
