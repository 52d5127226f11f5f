import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// `DELETE /auth/v1/user/identities/{id}`: takes a provider from the account of the bearer token.
enum SupabaseUnlinkIdentity {
    static let operation = OpenAPI.Operation(
        .delete,
        "/auth/v1/user/identities/{id}",
        id: "supabaseUnlinkIdentity",
        tag: .auth,
        summary: "Takes a provider from the account",
        caller: .user,
        parameters: [.supabaseIdentityID],
        answers: [200: .init("The provider is taken away.", .object([]).named("SupabaseNothing"))],
        problems: [.forbidden, .fieldsAtFault],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await parts.authentication.user(request, context, in: .supabase)
            let id = try context.parameters.require("id").lowercased()
            let account = try await parts.people.account(user.proofs, context.callOptions())
            guard let identity = account.identities.first(where: { SupabaseUser.identityID($0) == id }) else {
                throw Problem(.unprocessableContent, code: "IDENTITY_NOT_FOUND", detail: "Identity doesn't exist")
            }
            var call = IdentityV1.UnlinkProviderRequest()
            call.accessToken = try Authentication.requiredToken(request.headers)
            call.provider = identity.provider
            try await parts.methods.unlink(call, of: user, options: context.callOptions())
            return .json([:])
        }
    }
}

extension OpenAPI.Parameter {
    fileprivate static let supabaseIdentityID = Self(
        component: "identityID",
        name: "id",
        place: .path,
        schema: .text(),
        description: "The identity_id of one of the user's identities."
    )
}
