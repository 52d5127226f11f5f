import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET` and `POST /oauth2/logout`: ends the browser's session (OpenID Connect RP-Initiated Logout 1.0).
///
/// Only a form of a page of the session (``PageForm``) counts as the user's confirmation. A client's form comes without the session's
/// cookie; by a GET with its parameters the browser sends the cookie along.
enum EndBrowserSessionRoute {
    static let path = "/oauth2/logout"
    /// The field of a confirmation, with the value `yes`.
    static let confirmedName = "confirmed"
    /// The longest query that a form is sent on as, in bytes.
    private static let queryBytesMax = 6144

    private static let summary = "Ends the browser's session"
    private static let answers: [Int: OpenAPI.Answer] = [
        200: .page("The user is signed out, or has to confirm it."), 303: .init("Back to the client."),
    ]

    static let getOperation = OpenAPI.Operation(
        .get,
        path,
        id: "endBrowserSession",
        tag: .auth,
        summary: summary,
        description: "For a browser to visit, not for fetch: OpenID Connect RP-Initiated Logout 1.0.",
        caller: .anyone,
        answers: answers,
        answersPages: true
    )

    static let postOperation = OpenAPI.Operation(
        .post,
        path,
        id: "endBrowserSessionByForm",
        tag: .auth,
        summary: summary,
        description: "As GET, with the parameters in a form.",
        caller: .anyone,
        body: .form(.endSession),
        answers: answers,
        answersPages: true
    )

    static func endpoints(_ parts: OpenIDParts) -> [Endpoint] {
        [getOperation, postOperation].map { operation in
            Endpoint(operation, isForOtherOrigins: false) { request, context in
                let text = parts.languages.text(for: request)
                let form = try await FormFields(request, context)
                let token = parts.pages.sessionCookie.value(request)
                let parameters = form.fields.filter { $0.name != confirmedName && $0.name != PageForm.valueName }
                if request.method == .post, token.isEmpty { return try sentOn(parameters) }
                let isConfirmed = isConfirmed(form, request, token, parts)
                var call = IdentityV1.EndBrowserSessionRequest()
                call.parameters = IdentityV1.OAuthParameter.all(parameters)
                call.browserToken = token
                call.isConfirmed = isConfirmed
                let ended = try await parts.oauth.endBrowserSession(call, options: parts.options(request, context))
                parts.methods.watches.changes.note(users: [ended.userID])
                if ended.hasFailure {
                    return Page.failure(ended.failure, in: text).response
                }
                if ended.needsConfirmation { return question(parameters, token, text) }
                var response = response(ended, isConfirmed: isConfirmed, text)
                if !token.isEmpty { response.headers[.setCookie] = parts.pages.sessionCookie.clearing }
                return response
            }
        }
    }

    /// Whether the request is a form of a page of this session, by which the user confirms.
    private static func isConfirmed(
        _ form: FormFields,
        _ request: Request,
        _ token: String,
        _ parts: OpenIDParts
    ) -> Bool {
        request.method == .post && form[confirmedName] == "yes" && form.repeatedName == nil
            && PageForm.isOfOwnSite(request, parts.pages.origin) && PageForm.hasValue(form, ofToken: token)
    }

    private static func sentOn(_ parameters: [(name: String, value: String)]) throws(Problem) -> Response {
        let address = ClientRedirect.address(path, adding: parameters)
        guard address.utf8.count <= queryBytesMax else {
            throw Problem(.badRequest, code: "REQUEST_INVALID", detail: "The form is too long.")
        }
        return Response(status: .seeOther, headers: [.location: address])
    }

    private static func question(
        _ parameters: [(name: String, value: String)],
        _ token: String,
        _ text: PageText
    ) -> Response {
        let own = [(name: confirmedName, value: "yes"), (PageForm.valueName, PageForm.value(ofToken: token))]
        return Page.signOut(parameters + own, in: text).response
    }

    /// After a form of ours the browser follows a link: some apply the page's `form-action` to where the form's answer redirects.
    private static func response(
        _ ended: IdentityV1.EndBrowserSessionResponse,
        isConfirmed: Bool,
        _ text: PageText
    ) -> Response {
        guard !ended.redirectUri.isEmpty else {
            return Page.message(.signedOut, .signedOutText, in: text).response
        }
        let parameters = ended.state.isEmpty ? [] : [(name: "state", value: ended.state)]
        let address = ClientRedirect.address(ended.redirectUri, adding: parameters)
        if isConfirmed { return Page.signedOut(to: address, in: text).response }
        return Response(status: .seeOther, headers: [.location: address])
    }
}

extension Page {
    /// Asks whether the user wants to sign out.
    fileprivate static func signOut(_ fields: [(name: String, value: String)], in text: PageText) -> Page {
        Page(
            text: text,
            title: text[.signOut],
            content: """
                <p>\(text.html(.signOutText))</p>
                <form method="post" action="\(EndBrowserSessionRoute.path)">
                \(hiddenFields(fields))
                <button class="strong" type="submit">\(text.html(.signOutButton))</button>
                </form>
                """
        )
    }

    /// Leads back to a client.
    fileprivate static func signedOut(to address: String, in text: PageText) -> Page {
        let address = HTMLText.escaped(address)
        return Page(
            text: text,
            title: text[.signedOut],
            content: "<p><a class=\"button forward\" href=\"\(address)\">\(text.html(.backToApp))</a></p>"
        )
    }
}

extension OpenAPI.Schema {
    fileprivate static let endSession = object([
        .optional("id_token_hint", .text("An ID token of the user.", maxLength: 8192)),
        .optional("client_id", .text(maxLength: 255)),
        .optional("post_logout_redirect_uri", .text(maxLength: 2048)),
        .optional("state", .text(maxLength: 1024)),
    ]).named("EndSessionForm")
}
