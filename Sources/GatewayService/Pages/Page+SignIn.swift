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
    var sentence: PageText.Key {
        switch self {
        case .cancelled: .noticeCancelled
        case .later: .noticeLater
        case .refused: .noticeRefused
        case .failed: .noticeFailed
        }
    }
}

extension PageText {
    /// What the button of a provider says: for Apple, Google and Facebook in the words of their guidelines.
    func button(_ provider: String) -> String {
        switch provider {
        case "apple": self[.buttonApple]
        case "google": self[.buttonGoogle]
        case "facebook": self[.buttonFacebook]
        default: self[.buttonOther, ["provider": "\(provider.prefix(1).uppercased())\(provider.dropFirst())"]]
        }
    }
}

extension Page {
    /// The page on which the user chooses a provider.
    static func signIn(_ page: IdentityV1.SignInPage, _ notice: SignInNotice?, in text: PageText) -> Page {
        var parts: [String] = []
        if let notice { parts.append("<p class=\"notice\" role=\"status\">\(text.html(notice.sentence))</p>") }
        if page.providers.isEmpty { parts.append("<p>\(text.html(.noProvider))</p>") }
        let items = page.providers.map { provider in
            let address = HTMLText.escaped(BeginSignInRoute.address(provider, request: page.request))
            let style = provider == "apple" ? "button strong" : "button"
            let label = HTMLText.escaped(text.button(provider))
            return "<li><a class=\"\(style)\" href=\"\(address)\">\(label)</a></li>"
        }
        if !items.isEmpty { parts.append("<ul>\n\(items.joined(separator: "\n"))\n</ul>") }
        let title = page.clientName.isEmpty ? text[.signIn] : text[.signInTo, ["client": page.clientName]]
        return Page(text: text, title: title, content: parts.joined(separator: "\n"))
    }
}
