import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/refresh`: exchanges a refresh token for its successor and a new access token.
enum RefreshSessionRoute {
    static let operation = OpenAPI.Operation(
        .post,
        "/auth/refresh",
        id: "refreshSession",
        tag: .auth,
        summary: "Exchanges a refresh token for its successor and a new access token",
        caller: .anyone,
        body: .required(.refreshToken),
        answers: [200: .session],
        problems: [.refused]
    )

    static func endpoint(_ methods: AppMethods) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            var call = AppV1.RefreshSessionRequest()
            call.refreshToken = input.string("refresh_token")
            try input.finish()
            let session = try await methods.refreshSession(call, .route(request, context))
            return .json(addMembers: session.write(to:))
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let refreshToken = object([
        .required("refresh_token", .text(minLength: 1, maxLength: 512))
    ]).named("RefreshToken")
}
