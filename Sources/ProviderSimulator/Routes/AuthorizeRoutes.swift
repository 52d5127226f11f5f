import HTTPJSON
import HTTPTypes
import JOSE

/// The pages of Apple and Google on which a user signs in and is sent back to the app.
///
/// `GET` shows the page; `POST` takes its form: the parameters again, and the choice. A client without a browser sends `accept:
/// application/json` and gets the URL where the browser would have gone.
enum AuthorizeRoutes {
    static func all(_ store: SimulatorStore) -> [Route] {
        [(Provider.apple, "/apple/auth/authorize"), (.google, "/google/o/oauth2/v2/auth")].flatMap { provider, path in
            [
                .of(provider, "authorize", store, .get, path) { request, _ in
                    let fields = try? TokenRoutes.query(request)
                    return try await answer(request, fields, provider) { authorization, _ in
                        ChoicePage.response(authorization, people: await store.people(provider))
                    }
                },
                .of(provider, "authorize", store, .post, path) { request, context in
                    let fields = try await context.form(request)
                    return try await answer(request, fields, provider) { authorization, fields in
                        try await choose(authorization, fields, store, request)
                    }
                },
            ]
        }
    }

    /// Reads the request, and shows an error page for one that is invalid.
    private static func answer(
        _ request: Request,
        _ fields: FormFields?,
        _ provider: Provider,
        _ work: (AuthorizationRequest, FormFields) async throws -> Response
    ) async throws -> Response {
        do {
            guard let fields else {
                throw AuthorizationError(word: "invalid_request", sentence: "The query is malformed.")
            }
            return try await work(try AuthorizationRequest(fields, provider: provider), fields)
        } catch let fault as AuthorizationError {
            if wantsJSON(request) { return OAuthError(word: fault.word, sentence: fault.sentence).response }
            return ErrorPage.response(fault, provider: provider)
        }
    }

    private static func choose(
        _ authorization: AuthorizationRequest,
        _ fields: FormFields,
        _ store: SimulatorStore,
        _ request: Request
    ) async throws -> Response {
        let provider = authorization.provider
        if fields["action"] == "cancel" {
            let word = provider == .apple ? "user_cancelled_authorize" : "access_denied"
            return back([("error", word)], authorization, request)
        }
        let people = await store.people(provider)
        let person: Person
        if let subject = fields["sub"], let known = people.first(where: { $0.subject == subject }) {
            person = known
        } else {
            do {
                person = try self.person(fields, provider)
            } catch {
                if wantsJSON(request) { throw error }
                let sentence = error.fields.map { "\($0.name): \($0.detail)" }.joined(separator: " ")
                return ChoicePage.response(authorization, people: people, fault: sentence)
            }
        }
        let order = authorization.order(person)
        let result =
            switch provider {
            case .apple: try await store.signInWithApple(order)
            case .google, .facebook: try await store.signInWithGoogle(order)
            }
        var answer: [(name: String, value: String)] = []
        if authorization.wantsCode, let code = result.code { answer.append(("code", code)) }
        if let token = result.idToken { answer.append(("id_token", token)) }
        if let user = result.user {
            answer.append(("user", String(decoding: user.serialized(), as: UTF8.self)))
        }
        if provider == .google {
            answer += [
                ("scope", GoogleScopes.text(tellsEmail: order.tellsEmail)), ("authuser", "0"), ("prompt", "none"),
            ]
        }
        return back(answer, authorization, request)
    }

    private static func person(_ fields: FormFields, _ provider: Provider) throws(Problem) -> Person {
        var object = JSONObject()
        for name in ["sub", "email", "given_name", "family_name"] { object[name] = fields[name].map { .string($0) } }
        object["hide_email"] = .bool(provider == .apple && fields["hide_email"] != nil)
        var input = JSONInput(object)
        let person = Person(&input, provider: provider)
        try input.finish()
        return person
    }

    /// Redirects the browser to the app with the response and the app's state.
    private static func back(
        _ answer: [(name: String, value: String)],
        _ authorization: AuthorizationRequest,
        _ request: Request
    ) -> Response {
        let fields = answer + (authorization.state.map { [("state", $0)] } ?? [])
        let uri = authorization.redirectURI
        switch authorization.responseMode {
        case .formPost:
            guard wantsJSON(request) else {
                return FormPostPage.response(fields, to: uri, provider: authorization.provider)
            }
            var members = JSONObject()
            for field in fields { members[field.name] = .string(field.value) }
            return .json(["method": "post", "location": .string(uri), "fields": .object(members)])
        case .query, .fragment:
            let separator: Character = authorization.responseMode == .query ? "?" : "#"
            let location = RedirectURI.adding(fields, to: uri, separator: separator)
            if wantsJSON(request) { return .json(["method": "get", "location": .string(location)]) }
            return Response(status: .seeOther, headers: [.location: location])
        }
    }

    private static func wantsJSON(_ request: Request) -> Bool {
        request.headers[.accept]?.hasPrefix("application/json") ?? false
    }
}
