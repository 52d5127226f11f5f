import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `PUT /me/avatar`: keeps an image as the user's avatar.
enum SetAvatarRoute {
    /// The media types that are taken. What an image is, its own bytes say.
    static let types = ["image/png", "image/jpeg", "image/webp", anyType]
    /// The one that the description names: generators of clients know it, and make one body of it.
    static let anyType = "application/octet-stream"

    static let operation = OpenAPI.Operation(
        .put,
        "/me/avatar",
        id: "setAvatar",
        tag: .profile,
        summary: "Keeps an image as the user's avatar",
        description: """
            A PNG, JPEG or WebP file without animation, of at most 4096 pixels each way, as application/octet-stream or by its own \
            type (image/png, image/jpeg, image/webp). It is served without texts, places and \
            previews. The one before is gone. How many bytes it may have is configuration, half a MiB unless said otherwise; an app \
            scales its picture down first. 403 with GUEST_NOT_ALLOWED for a guest.
            """,
        caller: .user,
        body: .image,
        answers: [200: .init("The whole profile.", .message(AppV1.Profile.self))],
        problems: [.forbidden, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation, bodyBytesMax: methods.avatars.bytesMax) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            let me = try await methods.setAvatar(try await context.bytes(request, types: types), user)
            return .json(message: me)
        }
    }
}

extension OpenAPI.RequestBody {
    /// An image.
    fileprivate static let image = Self(schema: .binary, isRequired: true, types: [SetAvatarRoute.anyType])
}
