import WebPages

extension SignInPages {
    /// The browser's session. Requests that other sites make a browser send don't have it, but for links.
    var sessionCookie: PageCookie { PageCookie("vestibule-session", sameSite: .lax, isClear: isClear) }
    /// The sign-in in progress: the provider's form comes from another site.
    var signInCookie: PageCookie { PageCookie("vestibule-sign-in", sameSite: .none, isClear: isClear) }
    /// Shows that this browser asked for the challenge of a sign-in by a passkey.
    var passkeyCookie: PageCookie { PageCookie("vestibule-passkey", sameSite: .lax, isClear: isClear) }
    /// A linking in progress: what the provider gave, until the user confirms it.
    var linkCookie: PageCookie { PageCookie("vestibule-link", sameSite: .lax, isClear: isClear) }
    /// Until when the user has seen sign-ins on other devices.
    var newDevicesCookie: PageCookie { PageCookie("vestibule-new-devices", sameSite: .lax, isClear: isClear) }
    /// The invitation that the user came with, until they have signed in and decided.
    var invitationCookie: PageCookie { PageCookie("vestibule-invitation", sameSite: .lax, isClear: isClear) }
}
