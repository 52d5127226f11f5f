import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /auth/identities`: the providers that open the user's account.
enum ListProvidersRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/auth/identities",
        id: "listProviders",
        tag: .auth,
        summary: "The providers that open the user's account, the one linked first before the others",
        caller: .user,
        answers: [200: .linkedProviders]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            let providers = try await methods.listProviders(.init(), user).providers
            return .json { json in json.add("identities", providers) { $0.write(to: &$1) } }
        }
    }
}
