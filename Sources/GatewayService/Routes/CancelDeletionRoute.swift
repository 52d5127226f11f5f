import API
import HTTPJSON
import HTTPTypes

/// `DELETE /me/deletion`: cancels the scheduled deletion of the user's account.
enum CancelDeletionRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/me/deletion",
        id: "cancelDeletion",
        tag: .profile,
        summary: "Cancels the scheduled deletion of the user's account",
        description:
            "Any session of the account may, until the time has come. Where none is scheduled it is a success.",
        caller: .user,
        answers: [204: .init("No deletion is scheduled.")]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            _ = try await methods.cancelDeletion(.init(), user)
            return Response(status: .noContent)
        }
    }
}
