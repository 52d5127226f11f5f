import API
import HTTPJSON
import HTTPTypes

/// `GET /auth/v1/user`: whose the bearer token is.
enum SupabaseGetUser {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/v1/user",
        id: "supabaseGetUser",
        tag: .profile,
        summary: "Whose the bearer token is",
        caller: .user,
        answers: [200: .supabaseUser],
        problems: [.forbidden],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let proofs = try await parts.authentication.user(request, context, in: .supabase).proofs
            return .json(try await SupabaseUser.find(proofs, parts.people, context).json)
        }
    }
}
