import API
import HTTPJSON
import HTTPTypes

/// `GET /me`: the user's profile.
enum GetMe {
    static let operation = OpenAPI.Operation(
        .get,
        "/me",
        id: "getMe",
        tag: .profile,
        summary: "The user's profile",
        caller: .user,
        answers: [200: .profile]
    )

    static func endpoint(_ authentication: Authentication, _ profile: ProfileServiceClient) -> Endpoint {
        Endpoint(operation) { request, context in
            var call = ProfileV1.GetProfileRequest()
            call.userID = try await authentication.user(request, context)
            return .json(try await profile.getProfile(call, options: context.callOptions()).profile.json)
        }
    }
}
