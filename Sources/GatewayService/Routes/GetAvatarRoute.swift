import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /avatars/{id}`: an uploaded avatar, for every client that knows its id. An id never stands for another image, so that it may be
/// cached for good.
enum GetAvatarRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/avatars/{id}",
        id: "getAvatar",
        tag: .profile,
        summary: "An uploaded avatar",
        description: "The id is a secret that only those know who were shown the profile. A replaced avatar is gone.",
        caller: .anyone,
        parameters: [.avatarID],
        answers: [
            200: .image,
            304: .init("The image that the client has: If-None-Match names it."),
        ],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let id = try context.parameters.require("id")
            let tag = "\"\(id)\""
            let isKnown = request.headers[.ifNoneMatch].map { isNamed(tag, in: $0) } ?? false
            var call = ProfileV1.GetAvatarRequest()
            call.avatarID = id
            call.withoutImage = isKnown
            let options = Caller.route(request, context).callOptions()
            let avatar = try await methods.profile.getAvatar(call, options: options)
            var headers: HTTPFields = [
                .eTag: tag, .cacheControl: "public, max-age=31536000, immutable",
                .contentSecurityPolicy: "default-src 'none'; sandbox", .contentDisposition: "inline",
            ]
            if isKnown { return Response(status: .notModified, headers: headers) }
            headers[.contentType] = avatar.contentType
            return Response(status: .ok, headers: headers, body: ResponseBody(bytes: avatar.image))
        }
    }

    /// Whether `If-None-Match` names a tag (RFC 9110 section 13.1.2), whose comparison is the weak one.
    private static func isNamed(_ tag: String, in list: String) -> Bool {
        list.split(separator: ",").contains { part in
            let name = part.trimmingPrefix { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return name == "*" || name == tag || name == "W/\(tag)"
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let image: OpenAPI.Answer = {
        var answer = OpenAPI.Answer("The image.", .binary)
        answer.type = "image/*"
        return answer
    }()
}

extension OpenAPI.Parameter {
    fileprivate static let avatarID = Self(
        component: "avatarID",
        name: "id",
        place: .path,
        schema: .text(pattern: "^[0-9a-f]{32}$")
    )
}
