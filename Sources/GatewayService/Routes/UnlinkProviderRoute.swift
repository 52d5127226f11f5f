import API
import HTTPJSON
import HTTPTypes
import RPC

/// `DELETE /auth/identities/{provider}`: takes a provider from the user's account. One that is not linked is a success.
enum UnlinkProviderRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/auth/identities/{provider}",
        id: "unlinkProvider",
        tag: .auth,
        summary: "Takes a provider from the user's account",
        description: """
            Sessions that it opened end, the one that asks too. 409 with LAST_PROVIDER where the account would be left with none that \
            can sign in. 403 with RECENT_SIGN_IN_REQUIRED or PROOF_REQUIRED as for linking, and with PROVIDER_LINKED_TOO_RECENTLY where \
            a provider that was linked less than a day ago would take the place of an older one: Retry-After has when it is possible.
            """,
        caller: .user,
        parameters: [.provider],
        answers: [204: .init("The provider is not linked.")],
        problems: [.forbidden, .notFound, .conflict]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.UnlinkProviderRequest()
            call.provider = try context.parameters.require("provider")
            do {
                _ = try await methods.unlinkProvider(call, user)
            } catch {
                guard (error as? RPCError)?.reason == "LAST_PROVIDER" else { throw error }
                // The request is as it should be; the account isn't.
                var problem = Problem(answering: error)
                problem.status = .conflict
                throw problem
            }
            return Response(status: .noContent)
        }
    }
}
