import API
import HTTPJSON
import HTTPTypes

/// `PATCH /me`: changes the fields that are present, all or none. An empty text removes a field where the deployment doesn't
/// require it; so does null for the username.
enum UpdateMeRoute {
    static let operation = OpenAPI.Operation(
        .patch,
        "/me",
        id: "updateMe",
        tag: .profile,
        summary: "Changes the fields that are present, all or none",
        caller: .user,
        body: .required(.profileChange),
        answers: [200: .profile],
        problems: [.conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.UpdateMeRequest()
            var input = try await context.json(request)
            if let name = input.change("display_name") { call.displayName = name }
            if let phone = input.change("phone_number") { call.phoneNumber = phone }
            if input.isNull("username") {
                call.username = ""
            } else if let name = input.change("username") {
                call.username = name
            }
            try input.finish()
            return .json(try await methods.updateMe(call, user).profile.json)
        }
    }
}

extension JSONInput {
    /// A text to set; nil if the field is absent. Null is no text. An empty one is for profile to judge, which knows what
    /// is required.
    fileprivate mutating func change(_ name: String) -> String? {
        guard contains(name) else { return nil }
        if isNull(name) {
            addFault(name, code: "WRONG_TYPE", detail: "This field must be a text.")
            return nil
        }
        return optionalString(name)
    }
}

extension OpenAPI.Schema {
    fileprivate static let profileChange = object([
        .optional(
            "display_name",
            .text(
                "2 to 50 characters as people count them. Where it isn't required, an empty text removes it.",
                maxLength: 4000
            )
        ),
        .optional(
            "phone_number",
            .text(
                "In any notation of the configured region. Where it isn't required, an empty text removes it.",
                maxLength: 128
            )
        ),
        .optional(
            "username",
            .text(
                "3 to 20 letters, digits or underscores. Where it isn't required, null or an empty text removes it.",
                maxLength: 20,
                pattern: "^([A-Za-z0-9_]{3,20})?$",
                orNull: true
            )
        ),
    ]).named("ProfileChange")
}
