import API
import HTTPJSON
import Hummingbird

/// `GET /me`: the user's profile.
enum GetMe {
    static func route(_ authentication: Authentication, _ profile: ProfileServiceClient) -> Route {
        Route(.get, "/me") { request, context in
            var call = ProfileV1.GetProfileRequest()
            call.userID = try await authentication.user(request, context)
            return .json(try await profile.getProfile(call, options: context.callOptions()).profile.json)
        }
    }
}
