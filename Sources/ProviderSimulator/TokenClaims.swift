import JOSE

/// The claims of the providers' ID tokens, in the order in which the real ones have been seen to write them.
enum TokenClaims {
    /// What a sign-in is about.
    struct SignIn: Sendable {
        var clientID: String
        /// What the app handed to the provider; copied into the claim as it is.
        var nonce: String?
        var person: Person
        var issuedAtSeconds: Int64
        var expiresAtSeconds: Int64
    }

    /// Apple's: the e-mail may be a relay, the name is never there.
    ///
    /// - Parameters:
    ///   - isFirst: whether this client sees the person for the first time; only then `real_user_status` is told.
    ///   - code: the authorization code that comes with the token, which `c_hash` binds (OpenID Connect Core section
    ///     3.3.2.11).
    static func apple(_ signIn: SignIn, isFirst: Bool, code: String) -> JSONObject {
        var claims: JSONObject = [
            "iss": .string(Provider.apple.issuer),
            "aud": .string(signIn.clientID),
            "exp": .integer(signIn.expiresAtSeconds),
            "iat": .integer(signIn.issuedAtSeconds),
            "sub": .string(signIn.person.subject),
        ]
        if let nonce = signIn.nonce { claims["nonce"] = .string(nonce) }
        claims["c_hash"] = .string(Base64URL.encode(SHA256.hash(code).prefix(16)))
        if let email = signIn.person.toldEmail {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(signIn.person.isEmailVerified)
            if signIn.person.hidesEmail { claims["is_private_email"] = true }
        }
        claims["auth_time"] = .integer(signIn.issuedAtSeconds)
        claims["nonce_supported"] = true
        // 2: likely a real person.
        if isFirst { claims["real_user_status"] = 2 }
        return claims
    }

    /// Google's: with the name, without `at_hash`, which comes only where an access token does.
    static func google(_ signIn: SignIn) -> JSONObject {
        let person = signIn.person
        var claims: JSONObject = [
            "iss": .string(Provider.google.issuer),
            "azp": .string(signIn.clientID),
            "aud": .string(signIn.clientID),
            "sub": .string(person.subject),
        ]
        if let email = person.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(person.isEmailVerified)
        }
        if let nonce = signIn.nonce { claims["nonce"] = .string(nonce) }
        if let name = person.fullName { claims["name"] = .string(name) }
        if let name = person.givenName { claims["given_name"] = .string(name) }
        if let name = person.familyName { claims["family_name"] = .string(name) }
        claims["iat"] = .integer(signIn.issuedAtSeconds)
        claims["exp"] = .integer(signIn.expiresAtSeconds)
        return claims
    }
}
