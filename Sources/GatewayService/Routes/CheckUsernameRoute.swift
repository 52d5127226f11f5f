import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `GET /usernames/{username}`: whether the user could take a username now, and others for one that is taken.
enum CheckUsernameRoute {
    static let operation = OpenAPI.Operation(
        .get,
        "/usernames/{username}",
        id: "checkUsername",
        tag: .profile,
        summary: "Whether the user could take a username now, and others if not",
        description: "How often a user, and a client address, may ask within an hour is limited over all gateways.",
        caller: .user,
        parameters: [.username],
        answers: [200: .usernameCheck],
        problems: [.fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: false)
            var call = AppV1.CheckUsernameRequest()
            call.username = try context.parameters.require("username")
            let check = try await methods.checkUsername(call, user)
            return .json { json in
                json.add("is_free", check.isFree)
                json.add("suggestions", check.suggestions)
            }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let usernameCheck = OpenAPI.Answer(
        "Whether it is free.",
        .object([
            .required("is_free", .bool),
            .required(
                "suggestions",
                .list(of: .text(minLength: 3, maxLength: 20), "Usernames that are free, where it isn't.", maxItems: 3)
            ),
        ])
    )
}

extension OpenAPI.Parameter {
    fileprivate static let username = Self(
        component: "username",
        name: "username",
        place: .path,
        schema: .text(minLength: 3, maxLength: 20, pattern: "^[A-Za-z0-9_]{3,20}$"),
        description: "3 to 20 letters, digits or underscores."
    )
}
