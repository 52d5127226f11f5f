import API
import HTTPJSON
import HTTPTypes

/// `POST /me/phone-proof`: proves that a number is the user's, by an assertion of the app's own backend.
enum ProvePhoneRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/me/phone-proof",
        id: "provePhone",
        tag: .profile,
        summary: "Proves that a phone number is the user's",
        description: """
            The assertion is a JWT of the app's own backend. The number is the user's then, also if somebody else had typed it. 409 \
            with PHONE_TAKEN where somebody else has proven it. 401 with ACCOUNT_OPENED where the number has opened an old account, which \
            has absorbed the user's: sign in again. 202 while the number waits for the service that keeps it: it is the user's in a \
            moment, or opens an old account. Sending an assertion again is answered alike. 404 with PHONE_ASSERTIONS_NOT_CONFIGURED where no backend's \
            are believed.
            """,
        caller: .user,
        body: .required(.phoneProof),
        answers: [200: .profile, 202: .init("The assertion is accepted, and the number is the user's in a moment.")],
        problems: [.notFound, .conflict, .fieldsAtFault]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            let user = try await methods.authentication.user(.route(request, context), isChange: true)
            var call = AppV1.ProvePhoneRequest()
            var input = try await context.json(request)
            call.assertion = input.string("assertion")
            try input.finish()
            let answer = try await methods.provePhone(call, user)
            if answer.isPending { return Response(status: .accepted) }
            let me = answer.profile
            return .json(addMembers: me.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let phoneProof = object([
        .required("assertion", .text("A JWT of the app's own backend.", minLength: 1, maxLength: 4096))
    ]).named("PhoneProof")
}
