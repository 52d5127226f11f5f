import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/refresh`: exchanges a refresh token for its successor and a new access token.
enum RefreshSession {
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

    static func endpoint(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Endpoint {
        Endpoint(operation) { request, context in
            var input = try await context.json(request)
            let call = IdentityV1.RefreshRequest(presentedNow: input.string("refresh_token"))
            try input.finish()
            let refresh = try await identity.refresh(call, options: context.callOptions())
            return await answer.response(
                refresh.tokens,
                isNewUser: false,
                suggestedDisplayName: refresh.suggestedDisplayName,
                context: context
            )
        }
    }
}

extension OpenAPI.Schema {
    fileprivate static let refreshToken = object([
        .required("refresh_token", .text(minLength: 1, maxLength: 512))
    ]).named("RefreshToken")
}
