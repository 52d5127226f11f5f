import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /auth/v1/health`: this process answers.
enum SupabaseHealth {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/v1/health",
        id: "supabaseHealth",
        tag: .system,
        summary: "Whether the gateway is alive",
        caller: .anyone,
        callsServices: false,
        answers: [200: .init("It is.", .supabaseHealth)],
        errors: .supabase
    )

    static func endpoint() -> Endpoint {
        Endpoint(operation) { _, _ in
            .json(["name": "Vestibule", "version": "1", "description": "It speaks as Supabase Auth does."])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let supabaseHealth = object([
        .required("name", .constant("Vestibule")), .required("version", .text(minLength: 1)),
        .required("description", .text(minLength: 1)),
    ]).named("SupabaseHealth")
}
