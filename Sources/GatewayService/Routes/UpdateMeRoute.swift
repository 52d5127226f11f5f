import API
import HTTPJSON
import HTTPTypes

/// `PATCH /me`: changes the fields that are present, all or none. An empty text removes a field where the deployment doesn't
/// require it; so does null for the username and the picture.
enum UpdateMeRoute {
    /// The largest integer that every client of JSON can tell from its neighbours.
    static let revisionMax: Int64 = 1 << 53 - 1

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
            if let name = input.changeOrNull("username") { call.username = name }
            if let url = input.changeOrNull("avatar_url") { call.avatarURL = url }
            if let revision = input.optionalInteger("expected_revision", in: 0...revisionMax) {
                call.expectedRevision = revision
            }
            try input.finish()
            let me = try await methods.updateMe(call, user).profile
            return .json(addMembers: me.write(to:))
        }
    }
}

extension JSONInput {
    /// A text to set; nil if the field is absent. Null is no text. An empty one is for profile to judge, which knows what
    /// is required.
    fileprivate mutating func change(_ name: String) -> String? {
        guard contains(name) else { return nil }
        if isNull(name) {
            addError(name, code: "WRONG_TYPE", detail: "This field must be a text.")
            return nil
        }
        return optionalString(name)
    }
}

extension JSONInput {
    /// A text to set, empty where null asks for its removal; nil if the field is absent.
    fileprivate mutating func changeOrNull(_ name: String) -> String? { isNull(name) ? "" : change(name) }
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
        .optional(
            "avatar_url",
            .text("An https URL; null or an empty text removes the picture.", maxLength: 512, orNull: true)
        ),
        .optional(
            "expected_revision",
            .integer(
                "The revision that is to be changed: 409 with REVISION_MISMATCH if the profile has another one by now.",
                minimum: 0,
                maximum: Int(UpdateMeRoute.revisionMax)
            )
        ),
    ]).named("ProfileChange")
}
