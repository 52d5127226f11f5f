import API
import HTTPJSON
import HTTPTypes
import JOSE
import WebPages

/// Links a further provider: the provider's page, and then a form by which the user confirms. `POST …/providers/{provider}/link` begins,
/// `GET` and `POST /my/account/link` end it.
enum LinkPage {
    static let path = "\(AccountPage.path)/link"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.form("\(ProvidersPart.path)/{provider}/link") { visit, _ in
                try await BeginSignInRoute.begin(
                    BeginSignInRoute.provider(visit.context),
                    for: LinkRequest(formValue: visit.session.formValue).request,
                    visit.parts,
                    visit.request,
                    visit.context
                )
            },
            pages.page(path) { visit in
                if let notice = try visit.query["notice"].flatMap(SignInNotice.init(rawValue:)) {
                    return failure(visit.text[notice.sentence], visit)
                }
                guard let linking = linking(visit) else { return failure(visit.text[.linkLost], visit) }
                return page(linking, visit).response
            },
            pages.form(path, goal: ReturnPath(path) ?? .account) { visit, _ in
                guard let linking = linking(visit) else { return failure(visit.text[.linkLost], visit) }
                var call = AppV1.LinkProviderRequest()
                call.credentials.provider = linking.provider
                call.credentials.idToken = linking.idTokenTicket
                call.credentials.authorizationCode = linking.codeTicket
                call.credentials.codeVerifier = linking.verifier
                let linked = try await visit.methods.linkProvider(call, visit.user(isChange: true).caller)
                var response = AccountPages.seeOther(AccountPage.path, .linked)
                if linked.hasSession { response = try await joined(linked.session, visit) }
                response.headers[values: .setCookie].append(visit.parts.pages.linkCookie.clearing)
                return response
            },
        ]
    }

    /// What the provider gave for a linking that this session began; nil for anything else.
    private static func linking(_ visit: AccountPages.Visit) -> Linking? {
        guard let linking = Linking(visit.parts.pages.linkCookie.value(visit.request)),
            ConstantTime.areEqual(linking.formValue, visit.session.formValue)
        else { return nil }
        return linking
    }

    private static func page(_ linking: Linking, _ visit: AccountPages.Visit) -> Page {
        let name: KeyValuePairs = ["provider": visit.providerName(linking.provider)]
        let account =
            linking.email.isEmpty
            ? "" : "\n<p><strong>\(visit.text.html(.linkAccount, ["email": linking.email]))</strong></p>"
        return visit.page(
            visit.text[.link, name],
            """
            <p>\(visit.text.html(.linkText, name))</p>\(account)
            \(visit.form(path, "<button class=\"strong\" type=\"submit\">\(visit.text.html(.link, name))</button>"))
            <p class="after">\(visit.link(AccountPage.path, .goBackToPage))</p>
            """
        )
    }

    private static func failure(_ sentence: String, _ visit: AccountPages.Visit) -> Response {
        var page = visit.page(
            visit.text[.failed],
            """
            <p role="alert">\(HTMLText.escaped(sentence))</p>
            <p>\(visit.link(AccountPage.path, .goBackToPage))</p>
            """
        )
        page.status = .badRequest
        return page.response
    }

    /// The user's account was empty and another one has taken it in: this session has ended. The one that identity opened in its place is
    /// an app's and no browser's, so it ends too, and the user signs in.
    private static func joined(
        _ session: AppV1.SignInWithProviderResponse,
        _ visit: AccountPages.Visit
    ) async throws -> Response {
        var call = AppV1.SignOutRequest()
        call.refreshToken = session.tokens.refreshToken
        _ = try await visit.methods.signOut(call, visit.session.caller)
        var response = AccountPages.seeOther(SignInRoute.address(.account, .joined))
        response.headers[.setCookie] = visit.parts.pages.sessionCookie.clearing
        return response
    }
}

/// What stands in the place of a client's sealed request while a provider is linked.
struct LinkRequest: Sendable, Hashable {
    private static let prefix = "link_"

    /// That of the session that began it.
    let formValue: String

    init(formValue: String) { self.formValue = formValue }

    /// The linking in progress; nil for any other request.
    init?(request: String) {
        guard request.hasPrefix(Self.prefix) else { return nil }
        formValue = String(request.dropFirst(Self.prefix.count))
    }

    var request: String { Self.prefix + formValue }

    /// Where it goes on.
    static func address(_ notice: SignInNotice?) -> String {
        LinkPage.path + (notice.map { "?notice=\($0.rawValue)" } ?? "")
    }
}

/// What a provider gave for a linking, as the browser keeps it until the user confirms.
struct Linking: Sendable, Hashable {
    /// As long as identity keeps the tickets, in seconds.
    static let maxAgeSeconds: Int64 = 300
    private static let partsCount = 6

    let provider: String
    let idTokenTicket: String
    let codeTicket: String
    let verifier: String
    /// That of the session that began it.
    let formValue: String
    /// The e-mail address of the account at the provider, to show; empty if the provider sent none.
    let email: String

    init(provider: String, _ tickets: IdentityV1.FinishWebSignInResponse, verifier: String, formValue: String) {
        self.provider = provider
        idTokenTicket = tickets.idTokenTicket
        codeTicket = tickets.codeTicket
        self.verifier = verifier
        self.formValue = formValue
        email = tickets.email
    }

    /// The linking of a cookie's value: parts with dots between.
    init?(_ value: String) {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == Self.partsCount, parts.dropLast().allSatisfy({ !$0.isEmpty }),
            let email = Base64URL.decode(parts[5]).flatMap({ String(validating: $0, as: UTF8.self) })
        else { return nil }
        self.email = email
        (provider, idTokenTicket, codeTicket) = (parts[0], parts[1], parts[2])
        (verifier, formValue) = (parts[3], parts[4])
    }

    /// The cookie's value. No part has a dot: tickets, verifier and form value are base64url.
    var value: String {
        [provider, idTokenTicket, codeTicket, verifier, formValue, Base64URL.encode(Array(email.utf8))]
            .joined(separator: ".")
    }
}
