import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/v1/logout?scope=…`: ends the bearer token's session (`local`), all of its account (`global`, the default), or
/// all but its own (`others`). Ending what is over is a success.
enum SupabaseLogout {
    private static let scopes: [String: IdentityV1.SignOutScope] = [
        "local": .unspecified, "global": .everywhere, "others": .others,
    ]

    static let operation = OpenAPI.Operation(
        .post,
        "/auth/v1/logout",
        id: "supabaseLogout",
        tag: .auth,
        summary: "Ends the bearer token's session, all of its account, or all others",
        caller: .userOrAnyone,
        parameters: [.supabaseScope],
        answers: [204: .init("They are over.")],
        problems: [.forbidden],
        errors: .supabase
    )

    static func endpoint(_ parts: DialectParts) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = IdentityV1.SignOutRequest()
            call.accessToken = try Authentication.requiredToken(request.headers)
            let word = request.uri.queryParameters.get("scope").flatMap { $0.isEmpty ? nil : $0 }
            guard let scope = scopes[word ?? "global"] else {
                throw Problem(.badRequest, code: "REQUEST_INVALID", detail: "The scope is local, global or others.")
            }
            call.scope = scope
            try await parts.methods.endSessions(call, options: context.callOptions())
            return Response(status: .noContent)
        }
    }
}

extension OpenAPI.Parameter {
    fileprivate static let supabaseScope = Self(
        component: "logoutScope",
        name: "scope",
        place: .query,
        schema: .oneOf(["local", "global", "others", ""]),
        description: "global by default."
    )
}
