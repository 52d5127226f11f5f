import HTTPJSON
import HTTPTypes
import Hummingbird
import JOSE

/// `GET /readyz`: every service can take calls, its database included.
enum Readiness {
    static func route(_ cache: ReadinessCache) -> Route {
        Route(.get, "/readyz") { _, context in
            let answers = await cache.answers(context.callOptions(limit: ReadinessCache.wait))
            var services = JSONObject()
            for answer in answers { services[answer.name] = answer.isServing ? "ok" : "failed" }
            let isReady = answers.allSatisfy(\.isServing)
            return .json(
                ["status": isReady ? "ready" : "not ready", "services": .object(services)],
                status: isReady ? .ok : .serviceUnavailable
            )
        }
    }
}
