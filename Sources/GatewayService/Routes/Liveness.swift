import HTTPJSON
import Hummingbird
import JOSE

/// `GET /healthz`: this process answers.
enum Liveness {
    static func route() -> Route {
        Route(.get, "/healthz") { _, _ in .json(["status": "ok"]) }
    }
}
