import API
import HTTPJSON
import HTTPTypes

/// What the sign-in page says of the try before: a word of its address.
enum SignInNotice: String, Sendable, CaseIterable {
    case cancelled
    case later
    case refused
    case failed

    /// What became of a failed sign-in.
    init(_ problem: Problem) {
        self = problem.mayPass ? .later : problem.status == .forbidden ? .refused : .failed
    }

    /// The sentence.
    var text: String {
        switch self {
        case .cancelled: PageText.cancelled
        case .later: PageText.later
        case .refused: PageText.refused
        case .failed: PageText.notSignedIn
        }
    }
}

extension Page {
    /// The page on which the user chooses a provider.
    static func signIn(_ page: IdentityV1.SignInPage, _ notice: SignInNotice?) -> Page {
        var parts: [String] = []
        if let notice { parts.append("<p class=\"notice\" role=\"status\">\(HTMLText.escaped(notice.text))</p>") }
        if page.providers.isEmpty { parts.append("<p>\(PageText.noProvider)</p>") }
        let items = page.providers.map { provider in
            let address = HTMLText.escaped(BeginSignInRoute.address(provider, request: page.request))
            let style = provider == "apple" ? "button strong" : "button"
            let text = HTMLText.escaped(PageText.button(provider))
            return "<li><a class=\"\(style)\" href=\"\(address)\">\(text)</a></li>"
        }
        if !items.isEmpty { parts.append("<ul>\n\(items.joined(separator: "\n"))\n</ul>") }
        return Page(title: PageText.signIn(to: page.clientName), content: parts.joined(separator: "\n"))
    }
}
