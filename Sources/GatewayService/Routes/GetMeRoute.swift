import API
import HTTPJSON
import HTTPTypes

/// `GET /me`: the user's profile.
enum GetMeRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/me",
        id: "getMe",
        tag: .profile,
        summary: "The user's profile",
        caller: .user,
        answers: [200: .profile]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            let me = try await methods.getMe(.init(), user).profile
            return .json(addMembers: me.write(to:))
        }
    }
}
