import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET` and `POST /my/profile`: what the user is called, and by which number others find them.
///
/// With `request`, the sealed request of a client, it is the page between a sign-in and that client: once the profile is complete it goes
/// on there.
enum ProfilePage {
    static let path = "/my/profile"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.page(path, signIn: signIn) { visit in
                let user = try await visit.user()
                let me = try await visit.methods.getMe(.init(), user).profile
                let form = try ProfileForm(
                    me,
                    suggestedName: await suggestedName(me, user, visit),
                    query: visit.query
                )
                return try page(form, visit).response
            },
            pages.form(path, goal: ReturnPath(path) ?? .account) { visit, form in try await save(visit, form) },
        ]
    }

    /// The path and query at which a user completes what a client requires.
    ///
    /// - Parameters:
    ///   - request: the client's sealed request.
    ///   - required: the fields that the client requires, of those of `missing_fields`.
    ///   - languages: the client's `ui_locales`; empty without.
    static func address(_ request: String, required: [String], languages: String) -> String {
        let fields = required.isEmpty ? "" : "&required=\(FormFields.encode(required.joined(separator: " ")))"
        let asked = languages.isEmpty ? "" : "&\(AccountPages.languagesName)=\(FormFields.encode(languages))"
        return "\(path)?request=\(FormFields.encode(request))\(fields)\(asked)"
    }

    /// Without a session a client's request has its own way through the sign-in page, and back to here.
    private static func signIn(_ request: Request) throws -> String {
        let query = try FormFields(queryOf: request)
        guard query["request"] != nil else { return SignInRoute.address(ReturnPath(path) ?? .account) }
        return AuthorizeRoute.continueAddress(try AuthorizeRoute.sealedRequest(query))
    }

    /// The name that a provider told, for a user who has none yet.
    private static func suggestedName(
        _ me: AppV1.Profile,
        _ user: SignedInUser,
        _ visit: AccountPages.Visit
    ) async -> String {
        guard me.displayName.isEmpty else { return "" }
        let people = People(identity: visit.methods.identity, profile: visit.methods.profile)
        return await people.accountIfKnown(user.proofs, visit.context)?.suggestedDisplayName ?? ""
    }

    private static func save(_ visit: AccountPages.Visit, _ sent: PageForm) async throws -> Response {
        let user = try await visit.user(isChange: true)
        let me = try await visit.methods.getMe(.init(), user).profile
        var form = ProfileForm(me, sent)
        var saved = me
        if let change = form.change(of: me) {
            do {
                saved = try await visit.methods.updateMe(change, user).profile
            } catch {
                let problem = Problem(answering: error)
                guard problem.status.code < 500, problem.status != .unauthorized else { throw problem }
                form.reject(problem, visit)
            }
        }
        form.requireMissing(of: saved, visit)
        guard form.errors.isEmpty, form.summary.isEmpty else {
            var page = try page(form, visit)
            page.status = .unprocessableContent
            return page.response
        }
        guard !form.request.isEmpty else { return AccountPages.seeOther(path, .saved) }
        // By a link: some browsers apply the form's `form-action` to where its answer redirects, and this ends at the client.
        let address = HTMLText.escaped(AuthorizeRoute.continueAddress(form.request))
        return Page(
            text: visit.text,
            title: visit.text[.forwarding],
            content: "<p><a class=\"button strong forward\" href=\"\(address)\">\(visit.text.html(.forward))</a></p>"
        ).response
    }

    private static func page(_ form: ProfileForm, _ visit: AccountPages.Visit) throws -> Page {
        let title: PageText.Key = form.request.isEmpty ? .profile : .completeProfile
        let intro = form.request.isEmpty ? "" : "<p>\(visit.text.html(.completeProfileText))</p>\n"
        let content = """
            \(try visit.notice)\(form.alert(visit))\(intro)\(visit.form(
                visit.languages.isEmpty ? path : "\(path)?\(AccountPages.languagesName)=\(FormFields.encode(visit.languages))",
                """
                \(Page.hiddenFields([("request", form.request), ("required", form.required.sorted().joined(separator: " "))]))
                \(form.inputs(visit))
                <button class="strong" type="submit">\(visit.text.html(form.request.isEmpty ? .save : .forward))</button>
                """,
                attributes: " novalidate=\"\""
            ))
            """
        guard form.request.isEmpty else {
            let cancelLink =
                AuthorizeRoute.cancelAddress(form.request).map { "\n\(visit.text.cancelLink(to: $0))" } ?? ""
            return Page(text: visit.text, title: visit.text[title], content: content + cancelLink)
        }
        return visit.page(visit.text[title], content, current: .profile)
    }
}
