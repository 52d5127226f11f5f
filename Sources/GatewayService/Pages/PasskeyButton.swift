import API
import HTTPJSON

/// The button of passkeys on the sign-in page, and the field in which browsers suggest them. Both are hidden until the script finds that
/// the browser can use them.
enum PasskeyButton {
    /// An entry of the list of buttons.
    ///
    /// Browsers suggest passkeys in a field alone. These pages have no user names, so nothing is read from it: Enter does what the button
    /// does.
    ///
    /// - Parameter request: where it goes on afterwards.
    static func html(_ request: String, in text: PageText) -> String {
        """
        <li data-passkeys="usable" hidden="">
        <form class="passkey" method="post" action="\(PasskeySignIn.path)" data-challenge="\(PasskeySignIn.challengePath)" \
        data-none="\(text.html(.passkeyNotUsed))" data-later="\(text.html(.noticeLater))">
        \(Page.hiddenFields([("request", request)]))
        <button type="submit">\(text.html(.buttonPasskey))</button>
        <div class="field after" hidden="">
        <label for="passkey"><span class="hint">\(text.html(.passkeySuggestions))</span></label>
        <input id="passkey" autocomplete="username webauthn" autocapitalize="none" spellcheck="false">
        </div>
        <p class="error after" role="alert" hidden=""></p>
        </form>
        </li>
        """
    }
}
