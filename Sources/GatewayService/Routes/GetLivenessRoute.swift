import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /healthz`: this process answers.
enum GetLivenessRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/healthz",
        id: "getLiveness",
        tag: .system,
        summary: "Whether the gateway is alive",
        caller: .anyone,
        callsServices: false,
        answers: [200: .init("It is.", .liveness)]
    )

    static func endpoint() -> Endpoint {
        Endpoint(operation, atOnce: { _, _ in .json(["status": "ok"]) })
    }
}

extension OpenAPI.Schema {
    fileprivate static let liveness = object([.required("status", .constant("ok"))]).named("Liveness")
}
