import HTTPJSON
import Hummingbird
import JOSE

/// `POST /control/apple/sign-in` and `POST /control/google/sign-in`: what a phone would have got from the provider.
enum SignInRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        [
            Route(.post, "/control/apple/sign-in") { request, context in
                let result = try await store.signInWithApple(order(try await context.json(request), .apple))
                var body: JSONObject = [
                    "identity_token": .string(result.identityToken),
                    "authorization_code": .string(result.authorizationCode),
                ]
                if let user = result.user { body["user"] = .object(user) }
                return .json(body)
            },
            Route(.post, "/control/google/sign-in") { request, context in
                let token = try await store.signInWithGoogle(order(try await context.json(request), .google))
                return .json(["id_token": .string(token)])
            },
        ]
    }

    private static func order(_ input: JSONInput, _ provider: Provider) throws(Problem) -> SignInOrder {
        var input = input
        let clientID = input.string("client_id")
        let nonce = input.optionalString("nonce")
        var personInput = input.object("person")
        let person = Person(&personInput, provider: provider)
        input.adopt(personInput)
        var overridesInput = input.nested("overrides")
        let overrides = TokenOverrides(&overridesInput)
        input.adopt(overridesInput)
        try input.finish()
        return SignInOrder(clientID: clientID, nonce: nonce, person: person, overrides: overrides)
    }
}
