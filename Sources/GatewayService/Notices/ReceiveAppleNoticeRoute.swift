import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/apple/notifications`: receives Apple's notifications about its users.
enum ReceiveAppleNoticeRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/apple/notifications",
        id: "receiveAppleNotice",
        tag: .auth,
        summary: "Takes a server notification of Sign in with Apple",
        description: """
            For Apple's servers. 200 once the notification is stored, also when it comes again. 400 with a NOTICE_ code for one \
            that Apple didn't sign, that is for other apps or not of these days; 404 with PROVIDER_UNKNOWN where Apple is not set \
            up.
            """,
        caller: .anyone,
        body: .required(.appleNotification),
        answers: [200: .init("It is stored.")],
        problems: [.notFound],
        ignoresUnknownFields: true
    )

    static func endpoint(_ authentication: Authentication) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            var input = try await context.json(request)
            let payload = input.string("payload")
            try input.finish()
            try await ProviderNotices.receive(payload, from: "apple", authentication, .route(request, context))
            return Response(status: .ok)
        }
    }
}

/// What both routes do with a notification.
enum ProviderNotices {
    /// Hands it to identity, raw, which verifies and stores it.
    ///
    /// - Throws: what is answered with 400 for what identity refuses, 404 where it has no such provider, 503 if it must come again.
    static func receive(
        _ notice: String,
        from provider: String,
        _ authentication: Authentication,
        _ caller: Caller
    ) async throws {
        var call = IdentityV1.AcceptNoticeRequest()
        call.provider = provider
        call.notice = notice
        _ = try await authentication.identity.acceptNotice(call, options: caller.callOptions())
    }
}

extension OpenAPI.Schema {
    fileprivate static let appleNotification = object([
        .required("payload", .text("A compact JWS of Apple's.", minLength: 1))
    ]).named("AppleNotification")
}
