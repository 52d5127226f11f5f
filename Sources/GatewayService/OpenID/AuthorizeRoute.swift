import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET` and `POST /oauth2/authorize`, and `GET /oauth2/authorize/continue`: the authorization endpoint (RFC 6749 section 3.1), and
/// where it goes on once the user has signed in.
///
/// A form of another site comes without the session's cookie, which is SameSite=Lax: its user has to sign in.
enum AuthorizeRoute {
    static let path = "/oauth2/authorize"
    static let continuePath = "/oauth2/authorize/continue"
    /// The longest sealed request, in bytes.
    static let requestBytesMax = 3072

    private static let summary = "Asks for an authorization code, by a browser"
    private static let answers: [Int: OpenAPI.Answer] = [
        200: .page("The user has to sign in, or the answer is posted to the client (form_post)."),
        303: .init("To the client with its answer, or to the provider that it asks for."),
    ]

    static let getOperation = OpenAPI.Operation(
        .get,
        path,
        id: "authorize",
        tag: .auth,
        summary: summary,
        description: "For a browser to visit, not for fetch: OpenID Connect Core section 3.1.2, with PKCE (RFC 7636).",
        caller: .anyone,
        parameters: OpenAPI.Parameter.authorization,
        answers: answers,
        answersPages: true
    )

    static let postOperation = OpenAPI.Operation(
        .post,
        path,
        id: "authorizeByForm",
        tag: .auth,
        summary: summary,
        description: "As GET, with the parameters in a form.",
        caller: .anyone,
        body: .form(.authorization),
        answers: answers,
        answersPages: true
    )

    static let continueOperation = OpenAPI.Operation(
        .get,
        continuePath,
        id: "continueAuthorization",
        tag: .auth,
        summary: "Goes on once the user has signed in",
        description: "Pages lead here; clients don't.",
        caller: .anyone,
        parameters: [.sealedRequest],
        answers: answers,
        answersPages: true
    )

    static func endpoints(_ parts: OpenIDParts) -> [Endpoint] {
        [getOperation, postOperation].map { operation in
            Endpoint(operation, isForOtherOrigins: false) { request, context in
                var call = IdentityV1.AuthorizeRequest()
                let fields = try await FormFields(request, context).fields
                call.parameters = IdentityV1.OAuthParameter.all(
                    parts.pages.hasCognitoPaths ? Cognito.translated(fields) : fields
                )
                return try await answer(call, nil, "", parts, request, context)
            }
        } + [
            Endpoint(continueOperation, isForOtherOrigins: false) { request, context in
                let query = try FormFields(queryOf: request)
                var call = IdentityV1.AuthorizeRequest()
                call.request = try sealedRequest(query)
                call.isCancelled = query["cancelled"] != nil
                let notice = query["notice"].flatMap(SignInNotice.init(rawValue:))
                return try await answer(call, notice, query["provider"] ?? "", parts, request, context)
            }
        ]
    }

    /// The path and query that go on with a request: a client's, or one of our own pages'.
    ///
    /// - Parameter provider: the provider that the notice is about.
    static func continueAddress(_ request: String, _ notice: SignInNotice? = nil, provider: String = "") -> String {
        if let goal = ReturnPath(request: request) {
            let isAnew = ReturnPath.demandsNewSignIn(request)
            return notice.map { SignInRoute.address(goal, $0, provider: provider, isAnew: isAnew) } ?? goal.path
        }
        if LinkRequest(request: request) != nil { return LinkRequest.address(notice) }
        let notice = notice.map { "&notice=\($0.rawValue)&provider=\(FormFields.encode(provider))" } ?? ""
        return "\(continuePath)?request=\(FormFields.encode(request))\(notice)"
    }

    /// The path and query by which a user cancels a client's request; nil for that of one of our own pages.
    static func cancelAddress(_ request: String) -> String? {
        guard ReturnPath(request: request) == nil, LinkRequest(request: request) == nil else { return nil }
        return "\(continueAddress(request))&cancelled=true"
    }

    /// The sealed request of a query.
    ///
    /// - Throws: 400 without one, and for what is too long to be one.
    static func sealedRequest(_ query: FormFields) throws(Problem) -> String {
        guard query.repeatedName == nil, let request = query["request"], 1...requestBytesMax ~= request.utf8.count
        else {
            throw Problem(.badRequest, code: "REQUEST_INVALID", detail: "The address must have one request.")
        }
        return request
    }

    private static func answer(
        _ call: IdentityV1.AuthorizeRequest,
        _ notice: SignInNotice?,
        _ failed: String,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        var call = call
        call.browserToken = parts.pages.sessionCookie.value(request)
        let text = parts.languages.text(for: request)
        switch try await parts.oauth.authorize(call, options: parts.options(request, context)).outcome {
        case .answer(let answer): return ClientRedirect.response(answer, in: text)
        case .signIn(let page):
            // After a failed try the user chooses: the provider that the client asks for may be down.
            guard notice == nil, !page.provider.isEmpty else {
                let text = parts.languages.text(for: request, asked: page.languages)
                return Page.signIn(page, notice, failed: failed, in: text).response
            }
            let address = BeginSignInRoute.address(page.provider, request: page.request)
            return Response(status: .seeOther, headers: [.location: address])
        case .completeProfile(let completion):
            return try await completed(completion, call, parts, request, context)
        case .failure(let failure):
            return Page.failure(failure, in: text).response
        case nil: throw Problem.internalError(cause: NoOutcome())
        }
    }

    /// Answers a client that requires fields of the profile, or leads to the page on which the user fills them in.
    private static func completed(
        _ completion: IdentityV1.CompleteProfile,
        _ call: IdentityV1.AuthorizeRequest,
        _ parts: OpenIDParts,
        _ request: Request,
        _ context: RouteContext
    ) async throws -> Response {
        guard let visit = try await AccountPages(parts: parts).visit(request, context) else {
            // The session ended just now.
            return Response(status: .seeOther, headers: [.location: continueAddress(completion.request)])
        }
        let me = try await visit.methods.getMe(.init(), visit.user()).profile
        let isComplete = !ProfileForm.lacksAny(of: completion.fields, me)
        guard isComplete || completion.isSilent else {
            let address = ProfilePage.address(
                completion.request,
                required: completion.fields,
                languages: completion.page.languages
            )
            return Response(status: .seeOther, headers: [.location: address])
        }
        var call = call
        call.parameters = []
        call.request = completion.request
        call.profile = isComplete ? .complete : .incomplete
        let outcome = try await parts.oauth.authorize(call, options: parts.options(request, context)).outcome
        guard case .answer(let answer) = outcome else {
            return Response(status: .seeOther, headers: [.location: continueAddress(completion.request)])
        }
        return ClientRedirect.response(answer, in: visit.text)
    }

    private struct NoOutcome: Error {}
}

extension OpenAPI.Parameter {
    fileprivate static let authorization: [Self] = [
        Self(component: "authorizeClient", name: "client_id", place: .query, schema: .text(maxLength: 255)),
        Self(component: "authorizeRedirect", name: "redirect_uri", place: .query, schema: .text(maxLength: 2048)),
        Self(component: "authorizeResponseType", name: "response_type", place: .query, schema: .text(maxLength: 255)),
        Self(component: "authorizeScope", name: "scope", place: .query, schema: .text(maxLength: 1024)),
        Self(component: "authorizeState", name: "state", place: .query, schema: .text(maxLength: 1024)),
    ]
    static let sealedRequest = Self(
        component: "sealedRequest",
        name: "request",
        place: .query,
        schema: .text(minLength: 1, maxLength: AuthorizeRoute.requestBytesMax),
        description: "As the sign-in page has it.",
        isRequired: true
    )
}

extension OpenAPI.Schema {
    fileprivate static let authorization = object([
        .optional("client_id", .text(maxLength: 255)),
        .optional("redirect_uri", .text(maxLength: 2048)),
        .optional("response_type", .text(maxLength: 255)),
        .optional("scope", .text(maxLength: 1024)),
        .optional("state", .text(maxLength: 1024)),
    ]).named("AuthorizationForm")
}
