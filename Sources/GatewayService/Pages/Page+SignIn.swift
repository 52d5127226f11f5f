import API
import HTTPJSON
import HTTPTypes

/// What the sign-in page says of the try before: a word of its address.
enum SignInNotice: String, Sendable, CaseIterable {
    case cancelled
    case later
    case refused
    case failed
    /// The session of before has ended.
    case ended
    /// Two accounts of the user have become one.
    case joined

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
        case .ended: .sessionOver
        case .joined: .accountsJoined
        }
    }
}

extension Page {
    /// The page on which the user chooses a provider, or signs in with a passkey.
    ///
    /// - Parameter failed: the provider with which the user tried it before; empty if it isn't known.
    static func signIn(
        _ page: IdentityV1.SignInPage,
        _ notice: SignInNotice?,
        failed: String = "",
        in text: PageText
    ) -> Page {
        let buttons = ProviderButton.all(page)
        let down = notice == .later ? buttons.first { $0.provider == failed } : nil
        var parts: [String] = []
        if let notice { parts.append("<p class=\"notice\" role=\"status\">\(text.html(notice.sentence))</p>") }
        if buttons.isEmpty {
            // A browser that can use passkeys has a way in.
            let attribute = page.passkeysEnabled ? " data-passkeys=\"unusable\"" : ""
            parts.append("<p\(attribute)>\(text.html(.noProvider))</p>")
        }
        var items = buttons.map { button in
            let address = BeginSignInRoute.address(button.provider, request: page.request)
            return "<li>\(button.html(to: address, isDown: button.provider == down?.provider, in: text))</li>"
        }
        if page.passkeysEnabled { items.append(PasskeyButton.html(page.request, in: text)) }
        if !items.isEmpty { parts.append("<ul>\n\(items.joined(separator: "\n"))\n</ul>") }
        let help = HTMLText.escaped(
            SignInHelpRoute.address(page.request, providers: page.providers, language: text.language)
        )
        parts.append("<p class=\"aside\"><a href=\"\(help)\">\(text.html(.lostLink))</a></p>")
        if let cancelAddress = AuthorizeRoute.cancelAddress(page.request) {
            parts.append(text.cancelLink(to: cancelAddress))
        }
        let title = page.clientName.isEmpty ? text[.signIn] : text[.signInTo, ["client": page.clientName]]
        var signIn = Page(text: text, title: title, content: parts.joined(separator: "\n"))
        if page.passkeysEnabled {
            signIn.scripts.append(.passkeyScript)
            signIn.isLive = true
        }
        signIn.look = ClientLook(logoURI: page.clientLogoUri, color: page.clientColor, name: page.clientName)
        return signIn
    }
}

extension PageText {
    /// The link by which a user goes back to the client without signing in.
    func cancelLink(to address: String) -> String {
        "<p class=\"aside\"><a href=\"\(HTMLText.escaped(address))\">\(html(.cancel))</a></p>"
    }
}
