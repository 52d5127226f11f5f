import HTTPJSON
import HTTPTypes

/// A request of Supabase Auth's API that is not served here, and what is answered instead of a path that isn't there: a code by which
/// clients know what can't be done, and a text for the app's developer.
struct SupabaseRefusal: Sendable {
    /// What the paths begin with, below `/auth/v1`.
    let path: String
    let status: HTTPResponse.Status
    /// The code of Supabase Auth, where it has one for what is switched off.
    let code: String
    let message: String

    private init(_ path: String, _ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.path = path
        self.status = status
        self.code = code
        self.message = message
    }

    /// The refusal of a path; nil for one that Supabase Auth doesn't have, too.
    static func of(_ path: String) -> SupabaseRefusal? {
        let prefix = "/auth/v1"
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.dropFirst(prefix.count)
        return all.first { rest == $0.path || rest.hasPrefix($0.path + "/") }
    }

    /// All of them; a longer path before a shorter one that it begins with.
    static let all = [
        SupabaseRefusal(
            "/signup",
            .unprocessableContent,
            "signup_disabled",
            "There are no sign-ups by e-mail or by phone here. Use signInWithIdToken, or signInAnonymously."
        ),
        SupabaseRefusal("/otp", .unprocessableContent, "otp_disabled", noCodes),
        SupabaseRefusal("/magiclink", .unprocessableContent, "otp_disabled", noCodes),
        SupabaseRefusal("/verify", .unprocessableContent, "otp_disabled", noCodes),
        SupabaseRefusal("/resend", .unprocessableContent, "otp_disabled", noCodes),
        SupabaseRefusal(
            "/reauthenticate",
            .unprocessableContent,
            "otp_disabled",
            "There are no one-time codes here. Sign in again with signInWithIdToken."
        ),
        SupabaseRefusal(
            "/recover",
            .unprocessableContent,
            "email_provider_disabled",
            "There are no passwords here. Use signInWithIdToken."
        ),
        SupabaseRefusal(
            "/user/identities/authorize",
            .notFound,
            "manual_linking_disabled",
            "There is no linking by redirect here. Use linkIdentity with provider and token."
        ),
        SupabaseRefusal("/authorize", .badRequest, "oauth_provider_not_supported", noRedirect),
        SupabaseRefusal("/callback", .badRequest, "oauth_provider_not_supported", noRedirect),
        SupabaseRefusal("/sso", .notFound, "saml_provider_disabled", "There is no single sign-on by SAML here."),
        SupabaseRefusal("/saml", .notFound, "saml_provider_disabled", "There is no single sign-on by SAML here."),
        SupabaseRefusal(
            "/factors",
            .unprocessableContent,
            "mfa_totp_enroll_not_enabled",
            "There are no second factors here."
        ),
        SupabaseRefusal(
            "/passkeys",
            .unprocessableContent,
            "mfa_webauthn_enroll_not_enabled",
            "There are no passkeys here."
        ),
        SupabaseRefusal("/invite", .unprocessableContent, "not_supported", onlyTwoForAdmins),
        SupabaseRefusal("/admin", .unprocessableContent, "not_supported", onlyTwoForAdmins),
        SupabaseRefusal(
            "/oauth",
            .unprocessableContent,
            "not_supported",
            "Clients of other people's apps are not served here."
        ),
    ]

    private static let noCodes = "There are no one-time codes and magic links here. Use signInWithIdToken."
    private static let noRedirect = "There is no sign-in by redirect here. Use signInWithIdToken."
    private static let onlyTwoForAdmins =
        "Of the admin API only getUserById and deleteUser are served, and these only where a service key is configured."
}
