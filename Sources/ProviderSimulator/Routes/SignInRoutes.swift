import HTTPJSON
import HTTPTypes
import JOSE

/// `POST /control/PROVIDER/sign-in`: returns what a phone would get from the provider.
enum SignInRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        [
            Route(.post, "/control/apple/sign-in") { request, context in
                let result = try await store.signInWithApple(order(try await context.json(request), .apple))
                return answer(result, idToken: "identity_token")
            },
            Route(.post, "/control/google/sign-in") { request, context in
                answer(try await store.signInWithGoogle(order(try await context.json(request), .google)))
            },
            Route(.post, "/control/facebook/sign-in") { request, context in
                answer(try await store.signInWithFacebook(order(try await context.json(request), .facebook)))
            },
        ]
    }

    private static func order(_ input: JSONInput, _ provider: Provider) throws(Problem) -> SignInOrder {
        var input = input
        let order = SignInOrder(&input, provider: provider)
        try input.finish()
        return order
    }

    private static func answer(_ result: SignInResult, idToken name: String = "id_token") -> Response {
        var body = JSONObject()
        if let token = result.idToken { body[name] = .string(token) }
        if let code = result.code { body["authorization_code"] = .string(code) }
        if let token = result.accessToken { body["access_token"] = .string(token) }
        if let user = result.user { body["user"] = .object(user) }
        return .json(body)
    }
}
