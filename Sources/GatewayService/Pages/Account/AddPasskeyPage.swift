import API
import HTTPJSON
import HTTPTypes
import WebPages

/// `GET /my/account/passkey` and `POST /my/account/passkeys`: adds a passkey. Whether the user may is known before the browser makes one,
/// since the page asks for the challenge.
enum AddPasskeyPage {
    static let path = "\(AccountPage.path)/passkey"
    /// How much earlier than the challenge the page ends, in seconds: the time to make a passkey.
    private static let spareSeconds: Int32 = 60

    static func routes(_ pages: AccountPages) -> [Route] {
        let goal = ReturnPath(path) ?? .account
        return [
            pages.page(path) { visit in
                let begun = try await visit.methods.createPasskeyRegistration(.init(), visit.user(isChange: true))
                return page(begun, visit).response
            },
            pages.form(PasskeysPart.path, goal: goal) { visit, form in
                var call = AppV1.AddPasskeyRequest()
                (call.credential, call.name) = (form["credential"], form["name"])
                _ = try await visit.methods.addPasskey(call, visit.user(isChange: true))
                return AccountPages.seeOther(AccountPage.path, .linked)
            },
        ]
    }

    private static func page(
        _ begun: AppV1.CreatePasskeyRegistrationResponse,
        _ visit: AccountPages.Visit
    ) -> Page {
        let text = visit.text
        // A name by which the user distinguishes it from those of other devices, and may change.
        let name = DeviceName.of(userAgent: visit.request.headers[.userAgent] ?? "")
        let attributes = [
            "class": "new-passkey", "data-passkeys": "usable", "data-options": begun.options,
            "data-seconds": "\(begun.expiresInSeconds - spareSeconds)", "data-there": text[.passkeyThere],
            "data-none": text[.passkeyNotAdded],
        ].sorted { $0.key < $1.key }.map { " \($0.key)=\"\(HTMLText.escaped($0.value))\"" }.joined()
        let form = visit.form(
            PasskeysPart.path,
            """
            <input type="hidden" name="credential" value="">
            <div class="field">
            <label for="name">\(text.html(.passkeyName)) <span class="hint">\(text.html(.optional))</span></label>
            <input id="name" name="name" value="\(HTMLText.escaped(name))" minlength="2" maxlength="50" autocomplete="off">
            </div>
            <p class="error" role="alert" hidden=""></p>
            <button class="strong" type="submit">\(text.html(.addPasskey))</button>
            """,
            attributes: "\(attributes) hidden=\"\""
        )
        var page = visit.page(
            text[.addPasskey],
            """
            <p>\(text.html(.addPasskeyText))</p>
            \(form)
            <p data-passkeys="unusable">\(text.html(.passkeysUnsupported))</p>
            <p class="after">\(visit.link(AccountPage.path, .goBackToPage))</p>
            """
        )
        page.scripts.append(.passkeyScript)
        return page
    }
}
