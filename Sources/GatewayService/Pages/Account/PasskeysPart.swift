import API
import HTTPJSON
import HTTPTypes
import WebPages

/// The passkeys of the account's page: each with its name, and a link to the page that adds one.
enum PasskeysPart {
    static let path = "\(AccountPage.path)/passkeys"

    static func routes(_ pages: AccountPages) -> [Route] {
        [
            pages.form("\(path)/{passkey_id}/name") { visit, form in
                var call = AppV1.RenamePasskeyRequest()
                call.passkeyID = try visit.context.parameters.require("passkey_id")
                call.name = form["name"]
                _ = try await visit.methods.renamePasskey(call, visit.user(isChange: true))
                return AccountPages.seeOther(AccountPage.path, .saved)
            },
            pages.form("\(path)/{passkey_id}/remove") { visit, _ in
                var call = AppV1.RemovePasskeyRequest()
                call.passkeyID = try visit.context.parameters.require("passkey_id")
                _ = try await visit.methods.removePasskey(call, visit.user(isChange: true))
                return AccountPages.seeOther(AccountPage.path, .unlinked)
            },
        ]
    }

    /// - Parameter isOnlyWayIn: whether nothing else opens the account, so that its last passkey can't be removed.
    static func html(_ passkeys: [AppV1.Passkey], isOnlyWayIn: Bool, _ visit: AccountPages.Visit) -> String {
        let canRemove = passkeys.count > 1 || !isOnlyWayIn
        let items = passkeys.map { item($0, canRemove: canRemove, visit) }
        let list = items.isEmpty ? "" : "<ul>\n\(items.joined(separator: "\n"))\n</ul>\n"
        let link = visit.link(AddPasskeyPage.path, .addPasskey)
        let add = "<p class=\"after\" data-passkeys=\"usable\" hidden=\"\">\(link)</p>"
        return visit.section("passkeys", .passkeys, "<p>\(visit.text.html(.addPasskeyText))</p>\n\(list)\(add)")
    }

    private static func item(_ passkey: AppV1.Passkey, canRemove: Bool, _ visit: AccountPages.Visit) -> String {
        let text = visit.text
        let name = passkey.name.isEmpty ? text[.unnamedPasskey] : passkey.name
        let address = "\(path)/\(passkey.passkeyID)"
        let field = "name-\(passkey.passkeyID)"
        let used =
            passkey.hasLastUsedAt
            ? "\(text.html(.lastUsed)) \(visit.time(passkey.lastUsedAt))" : text.html(.neverUsed)
        let copies = text.html(passkey.isBackedUp ? .passkeyBackedUp : .passkeyOnOneDevice)
        let rename = visit.form(
            "\(address)/name",
            """
            <label for="\(field)">\(text.html(.passkeyName))</label>
            <input id="\(field)" name="name" value="\(HTMLText.escaped(passkey.name))" required="" minlength="2" \
            maxlength="50" autocomplete="off">
            \(visit.submit(.save, about: name, style: "small"))
            """
        )
        let remove = canRemove ? "\n\(visit.button("\(address)/remove", .unlink, about: name, style: "small"))" : ""
        return """
            <li class="card">
            <p class="name"><bdi>\(HTMLText.escaped(name))</bdi></p>
            <p>\(text.html(.linkedSince)) \(visit.time(passkey.createdAt)) · \(used) · \(copies)</p>
            \(visit.unfolding(.rename, about: name, rename))\(remove)
            </li>
            """
    }
}
