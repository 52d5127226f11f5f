import HTTPJSON
import HTTPTypes

/// `POST /auth/google/risc`: receives Google's notifications about its users, as pushed security event tokens (RFC 8935).
enum ReceiveGoogleNoticeRoute {
    static let path = "/auth/google/risc"
    /// RFC 8417 section 7.1.2.
    static let contentType = "application/secevent+jwt"

    static let operation = OpenAPI.Operation(
        .post,
        path,
        id: "receiveGoogleNotice",
        tag: .auth,
        summary: "Takes a security event token of Google (RFC 8935)",
        description: """
            For Google's servers. 202 once the token is stored, also when it comes again. 400 for one that Google didn't sign, that \
            is for other apps or not of these days; 404 where Google is not set up.
            """,
        caller: .anyone,
        body: .token,
        answers: [202: .init("It is stored.")],
        problems: [.notFound],
        errors: .securityEvent
    )

    static func endpoint(_ authentication: Authentication) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, context in
            let token = try await context.text(request, type: contentType)
            try await ProviderNotices.receive(token, from: "google", authentication, .route(request, context))
            return Response(status: .accepted)
        }
    }
}

extension OpenAPI.RequestBody {
    fileprivate static let token = Self(
        schema: .text("A compact JWS of Google's.", minLength: 1),
        isRequired: true,
        types: [ReceiveGoogleNoticeRoute.contentType]
    )
}
