import API
import HTTPJSON
import HTTPTypes

/// `DELETE /auth/sessions/{id}`: ends one of the user's sessions, the one that asks too. One that is over is a success.
enum EndSessionRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/auth/sessions/{id}",
        id: "endSession",
        tag: .auth,
        summary: "Ends one of the user's sessions",
        description: "404 with SESSION_NOT_FOUND where the user has no such session. One that is over is ended.",
        caller: .user,
        parameters: [.sessionID],
        answers: [204: .init("The session is over.")],
        problems: [.notFound]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.EndSessionRequest()
            call.sessionID = try context.parameters.require("id")
            _ = try await methods.endSession(call, user)
            return Response(status: .noContent)
        }
    }
}
