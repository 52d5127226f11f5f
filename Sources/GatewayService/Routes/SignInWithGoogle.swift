import API
import HTTPJSON
import HTTPTypes

/// `POST /auth/google`: opens a session for what Google gave the app.
enum SignInWithGoogle {
    static func route(_ identity: IdentityServiceClient, _ answer: SessionAnswer) -> Route {
        Route(.post, "/auth/google") { request, context in
            var input = try await context.json(request)
            var call = IdentityV1.SignInRequest()
            call.provider = "google"
            call.idToken = input.string("id_token")
            // Not every Google client can carry a nonce; whether one may be missing is identity's policy.
            call.nonce = input.optionalString("nonce") ?? ""
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
