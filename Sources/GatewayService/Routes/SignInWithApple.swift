import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/apple`: opens a session for what Sign in with Apple gave the app.
enum SignInWithApple {
    static func route(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Route {
        Route(.post, "/auth/apple") { request, context in
            var input = try await context.json(request)
            var call = IdentityV1.SignInRequest()
            call.provider = "apple"
            call.idToken = input.string("identity_token")
            call.nonce = input.string("nonce")
            call.authorizationCode = input.optionalString("authorization_code") ?? ""
            call.fullName = input.optionalString("full_name") ?? ""
            call.email = input.optionalString("email") ?? ""
            try input.finish()
            let signIn = try await identity.signIn(call, options: context.callOptions())
            return await answer.response(
                signIn.tokens,
                isNewUser: signIn.isNewUser,
                suggestedDisplayName: signIn.suggestedDisplayName,
                context: context
            )
        }
    }
}
