import JOSE

/// What is asked of a provider about an access token, and why the answers don't let anybody in.
public enum AccessTokenRefusal: Error, Sendable, Hashable {
    /// The provider says that the token is not good, or it can be none.
    case invalid
    /// It was issued to another app.
    case foreign
    /// The provider doesn't take us, or its endpoint is another one: a fault of the configuration.
    case notConfigured(error: String)
    /// The provider can't answer now.
    case unavailable
    /// The answer makes no sense.
    case unreadable
}

/// Access tokens as apps send them in the place of ID tokens.
public enum AccessToken {
    /// The longest token, in bytes.
    public static let bytesMax = 4_096
    /// The longest answer about one, in bytes.
    public static let answerBytesMax = 64 * 1024
    /// For how long a sign-in by one can be retried for the same session, in seconds, beyond which nothing of it is kept.
    public static let retrySeconds: Int64 = 60

    /// Whether the text can be a token (RFC 6750 section 2.1, and what Facebook's are made of): it goes into a header.
    public static func isPlausible(_ text: String) -> Bool {
        1...bytesMax ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    }

    /// By what the sign-in with this token is found again.
    public static func fingerprint(_ token: String, of provider: ProviderName) -> [UInt8] {
        SHA256.hash("vestibule access token 1\0\(provider.value)\0\(token)")
    }

    /// What sign-ins need to know of the person.
    ///
    /// The provider was asked now and answered now, so that is when what proves the sign-in was issued: the end of all sessions
    /// doesn't shut out people whose SDK keeps one token for weeks.
    static func claims(
        subject: String?,
        audience: AudiencePolicy,
        person: JSONObject,
        isEmailVerified: Bool,
        nowSeconds: Int64
    ) throws(AccessTokenRefusal) -> ProviderClaims {
        guard let subject, ProviderPolicy.isSubject(subject) else { throw .unreadable }
        let email = person["email"]?.string.flatMap(EmailAddress.accept)
        return ProviderClaims(
            subject: subject,
            audience: audience.id,
            policy: audience,
            nonceVerdict: .notProven,
            issuedAtSeconds: nowSeconds,
            acceptedUntilSeconds: nowSeconds + retrySeconds,
            email: email,
            isEmailVerified: email != nil && isEmailVerified,
            isPrivateEmail: false,
            name: person["name"]?.string,
            realUserStatus: nil
        )
    }

    static func object(_ body: [UInt8]) -> JSONObject? {
        try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: answerBytesMax))
    }

    /// An id that is a text in one version of an interface and a number in another.
    static func id(_ value: JSONValue?) -> String? {
        value?.string ?? value?.integer.map { String($0) }
    }

    /// What a status other than 200 and 400 to 499 means.
    static func checkServer(_ status: Int) throws(AccessTokenRefusal) {
        switch status {
        case 200, 400..<408, 409..<425, 426..<429, 430..<500: return
        case 408, 425, 429, 500...599: throw .unavailable
        default: throw .unreadable
        }
    }
}

/// Facebook's answers ("Access Token Debugging" and "User" in the Graph API's reference).
public enum FacebookAnswers {
    /// Codes of errors that pass (Graph API, "Handling errors"): unknown, service, too many calls.
    private static let passingCodes: Set<Int64> = [1, 2, 4, 17, 32, 341, 613]
    /// A parameter is at fault. `debug_token` has two: the call's own token, which must be an app's, as ours always is, and the
    /// token that it is asked about, which must be of the same app ("Access Tokens: Debugging"). So it is another app's.
    private static let parameterCode: Int64 = 100
    /// The access token that a call is made with is not good.
    private static let tokenCode: Int64 = 190

    /// The person's id that `debug_token` tells, of a token that was issued to the app.
    public static func userID(
        status: Int,
        body: [UInt8],
        appID: String,
        nowSeconds: Int64
    ) throws(AccessTokenRefusal) -> String {
        try AccessToken.checkServer(status)
        let answer = AccessToken.object(body)
        if status != 200 {
            switch code(answer) {
            case let code? where passingCodes.contains(code): throw .unavailable
            case parameterCode: throw .foreign
            // Of this call the token is ours: the app's id and secret.
            case let code: throw .notConfigured(error: code.map { "error \($0)" } ?? "status \(status)")
            }
        }
        guard let data = answer?["data"]?.object else { throw .unreadable }
        if let app = AccessToken.id(data["app_id"]), app != appID { throw .foreign }
        guard data["is_valid"] == true else { throw .invalid }
        // Of apps, pages and so on nobody signs in.
        guard data["type"] == nil || data["type"] == "USER" else { throw .invalid }
        // 0 is never.
        if let end = data["expires_at"]?.integer, end != 0, end <= nowSeconds { throw .invalid }
        guard AccessToken.id(data["app_id"]) == appID, let user = AccessToken.id(data["user_id"]) else {
            throw .unreadable
        }
        return user
    }

    /// The person that `/me` tells, who must be the one of `debug_token`. Facebook doesn't say whether it verified the e-mail.
    public static func person(
        status: Int,
        body: [UInt8],
        userID: String,
        audience: AudiencePolicy,
        nowSeconds: Int64
    ) throws(AccessTokenRefusal) -> ProviderClaims {
        try AccessToken.checkServer(status)
        let answer = AccessToken.object(body)
        if status != 200 {
            switch code(answer) {
            case let code? where passingCodes.contains(code): throw .unavailable
            case tokenCode: throw .invalid
            case let code: throw .notConfigured(error: code.map { "error \($0)" } ?? "status \(status)")
            }
        }
        guard let answer, let id = AccessToken.id(answer["id"]) else { throw .unreadable }
        guard id == userID else { throw .foreign }
        return try AccessToken.claims(
            subject: id,
            audience: audience,
            person: answer,
            isEmailVerified: false,
            nowSeconds: nowSeconds
        )
    }

    private static func code(_ answer: JSONObject?) -> Int64? { answer?["error"]?.object?["code"]?.integer }
}

/// Google's answers: `tokeninfo` in its old and its new form, and `userinfo` (OpenID Connect Core section 5.3.2).
public enum GoogleAnswers {
    /// The person's id that `tokeninfo` tells, of a token that was issued to the client or for it.
    public static func subject(status: Int, body: [UInt8], clientID: String) throws(AccessTokenRefusal) -> String {
        try AccessToken.checkServer(status)
        let answer = AccessToken.object(body)
        if status != 200 {
            switch answer?["error"]?.string {
            case "invalid_token", "invalid_grant": throw .invalid
            // The old form says so in the description only.
            case "invalid_request" where status == 400: throw .invalid
            default: throw .notConfigured(error: "status \(status)")
            }
        }
        guard let answer else { throw .unreadable }
        let clients = ["aud", "azp", "audience", "issued_to"].compactMap { answer[$0]?.string }
        guard clients.contains(clientID) else {
            throw clients.isEmpty ? .unreadable : .foreign
        }
        // A number in the old form, a text in the new one.
        guard let left = answer["expires_in"]?.integer ?? answer["expires_in"]?.string.flatMap({ Int64($0) }) else {
            throw .unreadable
        }
        guard left > 0 else { throw .invalid }
        // Without the scope `openid` or one of the profile it names nobody.
        guard let subject = answer["sub"]?.string ?? answer["user_id"]?.string else { throw .invalid }
        return subject
    }

    /// The person that `userinfo` tells, who must be the one of `tokeninfo` (OpenID Connect Core section 5.3.2).
    public static func person(
        status: Int,
        body: [UInt8],
        subject: String,
        audience: AudiencePolicy,
        nowSeconds: Int64
    ) throws(AccessTokenRefusal) -> ProviderClaims {
        try AccessToken.checkServer(status)
        guard status == 200 else {
            throw status == 401 ? .invalid : .notConfigured(error: "status \(status)")
        }
        guard let answer = AccessToken.object(body), let told = answer["sub"]?.string else { throw .unreadable }
        guard told == subject else { throw .foreign }
        return try AccessToken.claims(
            subject: told,
            audience: audience,
            person: answer,
            isEmailVerified: ProviderPolicy.looseBool(answer["email_verified"]),
            nowSeconds: nowSeconds
        )
    }
}
