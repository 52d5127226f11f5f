import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `DELETE /auth/v1/admin/users/{id}`: deletes any user, for who has the service key. gotrue's `should_soft_delete` is not there:
/// nothing of a user is kept.
enum SupabaseAdminDeleteUser {
    static let operation = OpenAPI.Operation(
        .delete,
        "/auth/v1/admin/users/{id}",
        id: "supabaseAdminDeleteUser",
        tag: .profile,
        summary: "Deletes any user for good, for who has the service key",
        description:
            "The bearer token is the service key. 422 where should_soft_delete is true: nothing is kept of a user.",
        caller: .user,
        parameters: [.supabaseUserID],
        body: .optional(.supabaseDeletion),
        answers: [200: .init("The user is deleted.", .object([]).named("SupabaseNothing"))],
        problems: [.forbidden, .notFound, .fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ key: SupabaseServiceKey, _ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            try key.check(request)
            if var input = try await context.optionalJSON(request) {
                guard input.optionalBool("should_soft_delete") != true else {
                    throw Problem(
                        .unprocessableContent,
                        code: "REQUEST_INVALID",
                        detail: "Users are deleted whole: should_soft_delete must be false."
                    )
                }
                try input.finish()
            }
            var call = IdentityV1.RemoveAccountRequest()
            call.userID = try context.parameters.require("id")
            _ = try await parts.backends.identity.removeAccount(call, options: context.callOptions())
            parts.methods.watches.changes.note(users: [call.userID.lowercased()])
            return .json([:])
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let supabaseDeletion = object([
        .optional("should_soft_delete", .boolean("false, or absent.", orNull: true))
    ]).named("SupabaseUserDeletion")
}
