import API
import HTTPJSON
import HTTPTypes

/// `GET /auth/v1/admin/users/{id}`: any user, for who has the service key.
enum SupabaseAdminGetUser {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/v1/admin/users/{id}",
        id: "supabaseAdminGetUser",
        tag: .profile,
        summary: "Any user, for who has the service key",
        description: "The bearer token is the service key.",
        caller: .user,
        parameters: [.supabaseUserID],
        answers: [200: .supabaseUser],
        problems: [.forbidden, .notFound],
        errors: .supabase
    )

    static func endpoint(_ key: SupabaseServiceKey, _ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            try key.check(request)
            let userID = try context.parameters.require("id")
            return .json(try await SupabaseUser.findAny(userID, parts.people, context).json)
        }
    }
}

extension OpenAPI.Parameter {
    static let supabaseUserID = Self(
        component: "userID",
        name: "id",
        place: .path,
        schema: .text(),
        description: "The user's id, a UUID."
    )
}
