import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/refresh`: exchanges a refresh token for its successor and a new access token.
enum RefreshSession {
    static func route(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Route {
        Route(.post, "/auth/refresh") { request, context in
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
