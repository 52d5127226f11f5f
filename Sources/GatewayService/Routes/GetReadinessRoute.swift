import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /readyz`: every service can take calls, its database included.
enum GetReadinessRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/readyz",
        id: "getReadiness",
        tag: .system,
        summary: "Whether every service and its database answer",
        caller: .anyone,
        callsServices: false,
        answers: [200: .readiness, 503: .readiness]
    )

    static func endpoint(_ cache: ReadinessCache) -> Endpoint {
        Endpoint(operation) { _, context in
            let readiness = await cache.readiness(context.callOptions(limit: cache.wait))
            var services = JSONObject()
            for answer in readiness.services { services[answer.name] = answer.isServing ? "ok" : "failed" }
            return .json(
                ["status": readiness.isReady ? "ready" : "not ready", "services": .object(services)],
                status: readiness.isReady ? .ok : .serviceUnavailable
            )
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let readiness = shared(
        "What answers and what does not.",
        .object([
            .required("status", .oneOf(["ready", "not ready"])),
            .required("services", .map(to: .oneOf(["ok", "failed"]))),
        ]).named("Readiness")
    )
}
