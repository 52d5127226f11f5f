import API
import HTTPJSON
import HTTPTypes

/// `PATCH /auth/sessions/{id}`: gives one of the user's live sessions another name.
enum RenameSessionRoute {
    static let operation = OpenAPI.Operation(
        .patch,
        "/auth/sessions/{id}",
        id: "renameSession",
        tag: .auth,
        summary: "Gives one of the user's live sessions another name",
        description: "404 with SESSION_NOT_FOUND where the user has no such session, or it is over.",
        caller: .user,
        parameters: [.sessionID],
        body: .required(.sessionName),
        answers: [200: .listedSession],
        problems: [.notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.RenameSessionRequest()
            call.sessionID = try context.parameters.require("id")
            var input = try await context.json(request)
            call.deviceName = input.string("device_name")
            try input.finish()
            let session = try await methods.renameSession(call, user).session
            return .json { session.write(to: &$0) }
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let sessionName = object([
        .required(
            "device_name",
            .text(
                "2 to 50 characters as people count them, of which one may be several code points.",
                minLength: 2,
                maxLength: 4000
            )
        )
    ]).named("SessionName")
}
