import API
import HTTPJSON
import HTTPTypes

/// The dialect of apps that sign in at a WordPress site's plugin, below `/wp-json/gread/v1/auth`.
///
/// Their accounts have a number, a username and an e-mail address of their own. An account without a username counts as not
/// registered: registering opens the account first and names it last, so that whatever breaks off in between, registering
/// again mends it. The token lives as long as its session may and isn't renewed; WordPress's `X-WP-Nonce`, in which the app
/// repeats it, is not looked at.
enum WordPress {
    /// The member of an account's metadata that holds the e-mail address with which a person registered here. The provider's
    /// may be a relay, which the person has never seen. Identity removes it (`EmailReservation.metadataMember`) when an account for
    /// which the provider verified the address takes it.
    static let emailMember = "wordpress_email"

    static func endpoints(_ parts: DialectParts) -> [Endpoint] {
        [
            WordPressLogin.endpoint(parts),
            WordPressRegister.endpoint(parts),
            WordPressLogout.endpoint(parts),
            WordPressCurrentUser.endpoint(parts),
        ]
    }

    /// Apple's credentials of a body: the ID token, which must name the app's Apple user id, or without one that id alone,
    /// which identity refuses unless the operator lets it pass.
    static func credentials(appleUserID: String, _ input: inout JSONInput) -> IdentityV1.SignInRequest {
        var call = IdentityV1.SignInRequest()
        call.provider = "apple"
        call.idToken = input.optionalString("identityToken") ?? ""
        call.nonce = input.optionalString("nonce") ?? ""
        call.authorizationCode = input.optionalString("authorizationCode") ?? ""
        if call.idToken.isEmpty {
            call.nonce = ""
            call.authorizationCode = ""
            call.unproven.dialect = Dialect.wordpress.rawValue
            call.unproven.subject = appleUserID
        } else {
            call.expectedSubject = appleUserID
        }
        call.deviceName = input.optionalString("deviceName") ?? ""
        call.tokenStyle = .singleForSession
        return call
    }

    /// There is no account, or one without a username.
    static let notRegistered = Problem(
        .notFound,
        code: "USER_NOT_FOUND",
        detail: "No account found with this Apple ID. Please register first."
    )

    /// The account is not one that was opened without proof, so none opens it now.
    static let proofRequired = Problem(
        .unauthorized,
        code: "PROOF_REQUIRED",
        detail: "This account needs Apple's identity token.",
        headers: [.wwwAuthenticate: Authentication.challenge]
    )

    /// A refusal with the code and the words that the app knows; the response has the code in lower case.
    static func refusal(_ code: String, _ detail: String, isConflict: Bool = false) -> Problem {
        Problem(isConflict ? .conflict : .badRequest, code: code, detail: detail)
    }
}

extension OpenAPI.Schema {
    static let appleUserID = text("Apple's id of the person, which the token must name.", minLength: 1)
    static let wordPressIdentityToken = text(
        "Apple's ID token; without one only where the operator allows it.",
        orNull: true
    )
}
