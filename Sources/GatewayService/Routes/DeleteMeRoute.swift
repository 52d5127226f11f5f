import API
import HTTPJSON
import HTTPTypes
import JOSE

/// `DELETE /me`: deletes the user's account, or schedules its deletion. One that is deleted is a success, as long as the token would be
/// good.
enum DeleteMeRoute {
    static let operation = OpenAPI.Operation(
        .delete,
        "/me",
        id: "deleteMe",
        tag: .profile,
        summary: "Deletes the user's account for good",
        description: """
            All sessions end. A later sign-in with the same provider makes a new user. The body may have what the provider gave \
            the app a moment ago, as for a sign-in: an ID token with its nonce, an authorization code, or both. It must be of an \
            identity of this account, else 403 with CREDENTIALS_FOREIGN, and be proven by the nonce or the code, else 403 with \
            PROOF_REQUIRED. It is used up, and Apple's code lets us withdraw the user's consent at Apple. A part of credentials alone, \
            such as a nonce, is refused, and so is a field that isn't known. Without credentials the session decides. One that was opened with a nonce or a code within the last minutes deletes at once; an older one is \
            answered with 403 and RECENT_SIGN_IN_REQUIRED: ask with credentials, or have the user sign in again. Any other session \
            schedules the deletion, 202 with `deletes_at`; asking again changes nothing, and DELETE /me/deletion cancels it. \
            200 where there is something to tell the user: at the providers of `consents_left` they have to withdraw their consent \
            themselves.
            """,
        caller: .user,
        body: .optional(.deletionCredentials),
        answers: [
            200: .deletedWithConsentsLeft, 202: .deletionScheduled, 204: .init("The account is deleted."),
        ],
        problems: [.forbidden, .notFound, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            // A request without a token is refused for that, whatever else is wrong with it.
            try Authentication.requiredCredentials(request.headers)
            var call = AppV1.DeleteMeRequest()
            if var input = try await context.optionalJSON(request) {
                let isByCredentials = parts.contains { input.contains($0) && !input.isNull($0) }
                let provider = isByCredentials ? input.string("provider") : ""
                let credentials = ProviderCredentials.request(provider, isRequired: isByCredentials, &input)
                try input.finish()
                if isByCredentials { call.credentials = credentials }
            }
            let deletion = try await methods.deleteMe(call, .route(request, context))
            if deletion.hasDeletesAt {
                return .json(status: .accepted) { json in json.add("deletes_at", deletion.deletesAt) }
            }
            if deletion.consentsLeft.isEmpty { return Response(status: .noContent) }
            return .json { json in json.add("consents_left", deletion.consentsLeft) }
        }
    }

    /// The members of which each asks for a deletion by credentials: the session doesn't decide in the place of those that are missing.
    private static let parts: [String] = [
        "provider", "id_token", "identity_token", "authorization_code", "access_token", "nonce", "client_id",
        "redirect_uri",
        "code_verifier",
    ]
}

extension OpenAPI.Schema {
    fileprivate static let deletionCredentials = object(
        [
            .optional("provider", .text("A configured provider's name, with all of the following.", minLength: 1))
        ]
            + credentialMembers(idToken: [
                .optional("id_token", .text("The provider's ID token.", orNull: true)),
                .optional("identity_token", .text("The same, by Apple's name for it.", orNull: true)),
            ]),
        description: "Where all of these are absent or null, the session decides."
    ).named("DeletionCredentials")
}

extension OpenAPI.Answer {
    fileprivate static let deletedWithConsentsLeft = OpenAPI.Answer(
        "The account is deleted, and the app must inform the user of something.",
        .object([
            .required(
                "consents_left",
                .list(
                    of: .text("\"apple\"", minLength: 1),
                    "Providers at which the user has to withdraw their consent themselves, since no token was kept to do it with: "
                        + "in the Apple Account's settings, or Apple doesn't send name and e-mail again at the next sign-in."
                )
            )
        ])
    )
    fileprivate static let deletionScheduled = OpenAPI.Answer(
        "The account will be deleted, and any of its sessions can cancel that until then.",
        .object([.required("deletes_at", .text("When it will be deleted.", format: .dateTime))])
    )
}
