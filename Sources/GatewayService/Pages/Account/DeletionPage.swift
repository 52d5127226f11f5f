import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET` and `POST /my/account/deletion`: deletes the account. Identity decides whether the sign-in is recent enough for it.
enum DeletionPage {
    static let path = "\(AccountPage.path)/deletion"
    static let cancelPath = "\(path)/cancel"

    static func routes(_ pages: AccountPages) -> [Route] {
        let goal = ReturnPath(path) ?? .account
        return [
            pages.page(path) { visit in
                let me = try await visit.methods.getMe(.init(), visit.user()).profile
                return question(me, visit).response
            },
            pages.form(path, goal: goal) { visit, form in
                guard form["confirmed"] == "yes" else { return AccountPages.seeOther(path) }
                let deleted = try await visit.methods.deleteMe(.init(), visit.session.caller)
                guard !deleted.hasDeletesAt else { return AccountPages.seeOther(AccountPage.path) }
                let consents = deleted.consentsLeft.map { provider in
                    let name = ["provider": visit.providerName(provider)] as KeyValuePairs
                    return "<p>\(visit.text.html(.consentLeft, name))</p>"
                }
                let content = (["<p>\(visit.text.html(.accountDeletedText))</p>"] + consents).joined(separator: "\n")
                return visit.signedOut(Page(text: visit.text, title: visit.text[.accountDeleted], content: content))
            },
            pages.form(cancelPath) { visit, _ in
                _ = try await visit.methods.cancelDeletion(.init(), visit.user(isChange: true))
                return AccountPages.seeOther(AccountPage.path, .kept)
            },
        ]
    }

    private static func question(_ me: AppV1.Profile, _ visit: AccountPages.Visit) -> Page {
        let name = [me.displayName, me.username, me.phoneNumber].first { !$0.isEmpty }
        let who = name.map { "<p><strong><bdi>\(HTMLText.escaped($0))</bdi></strong></p>\n" } ?? ""
        return visit.page(
            visit.text[.deleteAccount],
            """
            \(who)<p>\(visit.text.html(.deleteAccountText))</p>
            \(visit.form(
                path,
                """
                <p class="check">
                <input type="checkbox" id="confirmed" name="confirmed" value="yes" required="">
                <label for="confirmed">\(visit.text.html(.deleteAccountCheck))</label>
                </p>
                <button class="danger" type="submit">\(visit.text.html(.deleteAccountButton))</button>
                """
            ))
            <p class="after">\(visit.link(AccountPage.path, .keepAccount))</p>
            """
        )
    }
}
