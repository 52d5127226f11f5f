import HTTPJSON
import HTTPTypes
import WebPages

/// `GET /oauth2/authorize/help`: what a user can do who has lost the account at a provider that they sign in with.
enum SignInHelpRoute {
    static let path = "/oauth2/authorize/help"

    static let operation = OpenAPI.Operation(
        .get,
        path,
        id: "showSignInHelp",
        tag: .auth,
        summary: "Says what to do about a lost account at a provider",
        description: "The sign-in page leads here; an operator's pages may, too.",
        caller: .anyone,
        answers: [200: .page("What to do.")],
        answersPages: true
    )

    static func endpoint(_ parts: OpenIDParts) -> Endpoint {
        Endpoint(operation, isForOtherOrigins: false) { request, _ in
            let query = try FormFields(queryOf: request)
            let back = query["request"] == nil ? nil : try AuthorizeRoute.sealedRequest(query)
            let listed = query["providers"].map { Set($0.split(separator: ",").map(String.init)) }
            let page = Page.signInHelp(
                providers: Recovery.all.filter { listed?.contains($0.provider) ?? true },
                back: back.map { AuthorizeRoute.continueAddress($0) },
                supportURL: parts.pages.supportURL,
                in: parts.languages.text(for: request, asked: query["ui_locales"] ?? "")
            )
            return page.response
        }
    }

    /// The path and query of the page, for a request to go back to, the providers that could sign in, and a language.
    static func address(_ request: String, providers: [String], language: String) -> String {
        let known = Recovery.all.map(\.provider).filter(providers.contains).joined(separator: ",")
        return "\(path)?request=\(FormFields.encode(request))&providers=\(known)&ui_locales=\(language)"
    }

    /// Where a provider lets its users back in.
    struct Recovery: Sendable {
        let provider: String
        let name: String
        let url: String

        static let all = [
            Recovery(provider: "apple", name: "Apple", url: "https://iforgot.apple.com/"),
            Recovery(provider: "google", name: "Google", url: "https://accounts.google.com/signin/recovery"),
            Recovery(provider: "facebook", name: "Facebook", url: "https://www.facebook.com/login/identify/"),
        ]
    }
}

extension Page {
    /// What to do about a lost account.
    fileprivate static func signInHelp(
        providers: [SignInHelpRoute.Recovery],
        back: String?,
        supportURL: String?,
        in text: PageText
    ) -> Page {
        func link(_ address: String, _ words: String) -> String {
            "<a href=\"\(HTMLText.escaped(address))\">\(words)</a>"
        }
        var parts = [PageText.Key.lostOther, .lostDevice, .lostProvider].map { "<p>\(text.html($0))</p>" }
        let items = providers.map { recovery in
            "<li>\(link(recovery.url, text.html(.lostRecover, ["provider": recovery.name])))</li>"
        }
        if !items.isEmpty { parts.append("<ul class=\"links\">\n\(items.joined(separator: "\n"))\n</ul>") }
        if let supportURL {
            parts.append("<p>\(text.html(.lostSupport))<br>\(link(supportURL, text.html(.contactSupport)))</p>")
        } else {
            parts.append("<p>\(text.html(.lostNoSupport))</p>")
        }
        if let back {
            parts.append("<p><a class=\"button\" href=\"\(HTMLText.escaped(back))\">\(text.html(.back))</a></p>")
        }
        return Page(text: text, title: text[.lostTitle], content: parts.joined(separator: "\n"))
    }
}
