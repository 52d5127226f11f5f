import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `DELETE /me`: deletes the user's account. One that is deleted is a success, as long as the token would be good.
enum DeleteMeRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/me",
        id: "deleteMe",
        tag: .profile,
        summary: "Deletes the user's account for good",
        description: """
            All sessions end. Whoever signs in again with the same provider is somebody new. 403 with RECENT_SIGN_IN_REQUIRED where \
            the session was not opened within the last minutes: have the user sign in again and ask with the new token. 200 where \
            there is something to tell the user: at the providers of `consents_left` they have to withdraw their consent themselves.
            """,
        caller: .user,
        answers: [200: .deletedWithConsentsLeft, 204: .init("The account is deleted.")],
        problems: [.forbidden]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let deletion = try await methods.deleteMe(.init(), .route(request, context))
            if deletion.consentsLeft.isEmpty { return Response(status: .noContent) }
            return .json { json in json.add("consents_left", deletion.consentsLeft) }
        }
    }
}

extension OpenAPI.Answer {
    fileprivate static let deletedWithConsentsLeft = OpenAPI.Answer(
        "The account is deleted, and there is something to tell the user.",
        .object([
            .required(
                "consents_left",
                .list(
                    of: .text("\"apple\"", minLength: 1),
                    "Providers at which the user has to withdraw their consent themselves, since no token was kept to do it with: "
                        + "in the Apple Account's settings, or Apple doesn't tell name and e-mail again at the next sign-in."
                )
            )
        ])
    )
}
