import HTTPJSON
import HTTPTypes
import Hummingbird
import RPC

/// `GET /.well-known/jwks.json`: the public keys of our tokens (RFC 7517 section 5).
enum KeySetRoute {
    /// How long identity may take; short, because a stale set is better than a late one.
    static let wait = Duration.seconds(2)

    static func route(_ cache: KeySetCache) -> Route {
        Route(.get, "/.well-known/jwks.json") { _, context in
            let answer = try await cache.answer(timeout: min(wait, context.deadline.remaining))
            return .json(
                bytes: answer.json.utf8,
                headers: [.cacheControl: "public, max-age=\(answer.maxAgeSeconds)"]
            )
        }
    }
}
