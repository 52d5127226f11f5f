import API
import HTTPJSON
import HTTPTypes

/// `DELETE /me/avatar`: the user has no picture from now on, be it an uploaded one or a URL. Having none is a success.
enum DeleteAvatarRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/me/avatar",
        id: "deleteAvatar",
        tag: .profile,
        summary: "Removes the user's picture",
        caller: .user,
        answers: [200: .init("The whole profile.", .message(AppV1.Profile.self))]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.UpdateMeRequest()
            call.avatarURL = ""
            let me = try await methods.updateMe(call, user).profile
            return .json(message: me)
        }
    }
}
