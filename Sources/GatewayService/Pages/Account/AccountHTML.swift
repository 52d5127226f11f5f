import API
import HTTPJSON
import SwiftProtobuf
import WebPages

/// Parts that several pages of a signed-in user have.
extension AccountPages.Visit {
    /// A form of this session's.
    ///
    /// - Parameters:
    ///   - action: a path of ours.
    ///   - content: HTML.
    func form(_ action: String, _ content: String, attributes: String = "") -> String {
        """
        <form method="post" action="\(HTMLText.escaped(action))"\(attributes)>
        \(Page.hiddenFields([(PageForm.valueName, session.formValue)]))
        \(content)
        </form>
        """
    }

    /// A form that is a button alone.
    ///
    /// - Parameters:
    ///   - about: what it is about, for screen readers where several buttons say the same.
    ///   - style: the classes of the button.
    func button(
        _ action: String,
        _ key: PageText.Key,
        about: String = "",
        style: String = "",
        fields: [(name: String, value: String)] = []
    ) -> String {
        form(action, "\(Page.hiddenFields(fields))\n\(submit(key, about: about, style: style))")
    }

    func submit(_ key: PageText.Key, about: String = "", style: String = "") -> String {
        let hidden = about.isEmpty ? "" : "<span class=\"hidden\"> \(HTMLText.escaped(about))</span>"
        return
            "<button type=\"submit\"\(style.isEmpty ? "" : " class=\"\(style)\"")>\(text.html(key))\(hidden)</button>"
    }

    /// What is there once the user asks for it, for what is not to be done by one touch.
    ///
    /// - Parameter about: as of a button.
    func unfolding(_ key: PageText.Key, about: String = "", _ content: String) -> String {
        let hidden = about.isEmpty ? "" : "<span class=\"hidden\"> \(HTMLText.escaped(about))</span>"
        return """
            <details>
            <summary>\(text.html(key))\(hidden)</summary>
            \(content)
            </details>
            """
    }

    /// A link that looks like a button.
    func link(_ address: String, _ key: PageText.Key) -> String {
        "<a class=\"button\" href=\"\(HTMLText.escaped(address))\">\(text.html(key))</a>"
    }

    /// What people call a provider: its configured name, else the word of the providers file with a capital. A passkey is one, too.
    func providerName(_ provider: String) -> String {
        guard provider != AccountPages.passkeyProvider else { return text[.passkey] }
        let buttons = ProviderButton.all(signIn)
        return (buttons.first { $0.provider == provider } ?? ProviderButton(provider: provider, displayName: "")).name
    }

    /// A moment, which the script writes as the user's browser does.
    func time(_ moment: Google_Protobuf_Timestamp) -> String {
        let (seconds, nanoseconds) = (moment.seconds, Int64(moment.nanos))
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000).partialValue &+ nanoseconds / 1_000_000
        let iso = RFC3339.text(milliseconds: milliseconds)
        return "<time datetime=\"\(iso)\">\(iso.prefix(10)) \(iso.dropFirst(11).prefix(5)) UTC</time>"
    }

    /// A part of a page with a heading of its own.
    func section(_ id: String, _ heading: PageText.Key, _ content: String) -> String {
        """
        <section aria-labelledby="\(id)">
        <h2 id="\(id)">\(text.html(heading))</h2>
        \(content)
        </section>
        """
    }

    /// What the form before this page has done; empty without a notice.
    var notice: String {
        get throws {
            guard let notice = try query["notice"].flatMap(PageNotice.init(rawValue:)) else { return "" }
            return "<p class=\"notice\" role=\"status\">\(text.html(notice.key))</p>"
        }
    }

    /// A page with the links to the others.
    func page(_ title: String, _ content: String, current: AccountPages.Tab? = nil) -> Page {
        var page = Page(text: text, title: title, content: content)
        let links = AccountPages.Tab.allCases.map { tab in
            let mark = tab == current ? " aria-current=\"page\"" : ""
            return "<a href=\"\(tab.path)\"\(mark)>\(text.html(tab.key))</a>"
        }
        page.navigation = """
            <nav aria-label="\(text.html(.navigation))">
            \(links.joined(separator: "\n"))
            </nav>
            """
        return page
    }
}

extension AccountPages {
    /// The pages that every page links to.
    enum Tab: CaseIterable {
        case account
        case profile
        case groups

        var path: String {
            switch self {
            case .account: AccountPage.path
            case .profile: ProfilePage.path
            case .groups: GroupsPage.path
            }
        }

        var key: PageText.Key {
            switch self {
            case .account: .account
            case .profile: .profile
            case .groups: .groups
            }
        }
    }
}

/// What a page says of the form that led to it: a word of its address.
enum PageNotice: String, CaseIterable, Sendable {
    case saved
    case renamed
    case ended
    case others
    case linked
    case unlinked
    case kept
    case created
    case added
    case joined
    case asked
    case confirmed
    case removed
    case left
    case declined
    case revoked

    /// The sentence.
    var key: PageText.Key {
        switch self {
        case .saved: .noticeSaved
        case .renamed: .noticeRenamed
        case .ended: .noticeEnded
        case .others: .noticeOthersEnded
        case .linked: .noticeLinked
        case .unlinked: .noticeUnlinked
        case .kept: .noticeKept
        case .created: .noticeCreated
        case .added: .noticeAdded
        case .joined: .noticeJoined
        case .asked: .noticeAsked
        case .confirmed: .noticeConfirmed
        case .removed: .noticeRemoved
        case .left: .noticeLeft
        case .declined: .noticeDeclined
        case .revoked: .noticeLinkRevoked
        }
    }
}
