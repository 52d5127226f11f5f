import JOSE

/// The claims of the providers' ID tokens, in the order in which the real ones have been seen to write them.
enum TokenClaims {
    /// The data of a sign-in.
    struct SignIn: Sendable {
        var clientID: String
        /// The nonce that the app, or its SDK, sent to the provider; copied into the claim unchanged.
        var nonce: String?
        var person: Person
        var authenticatedAtSeconds: Int64
        var issuedAtSeconds: Int64
        var expiresAtSeconds: Int64
        /// Whether the app gets the e-mail address.
        var tellsEmail = true
        /// The code that comes with the token, which `c_hash` binds (OpenID Connect Core section 3.3.2.11).
        var code: String?
        /// The access token that comes with it, which `at_hash` binds (section 3.1.3.6).
        var accessToken: String?
        /// Apple: the transfer identifier, which leads to the person's former subject.
        var transferSubject: String?
    }

    /// Apple's claims: the e-mail may be a relay address, and the name is never included.
    ///
    /// - Parameter isFirst: whether this client sees the person for the first time; only then `real_user_status` is included.
    static func apple(_ signIn: SignIn, isFirst: Bool) -> JSONObject {
        var claims: JSONObject = [
            "iss": .string(Provider.apple.issuer),
            "aud": .string(signIn.clientID),
            "exp": .integer(signIn.expiresAtSeconds),
            "iat": .integer(signIn.issuedAtSeconds),
            "sub": .string(signIn.person.subject),
        ]
        if let nonce = signIn.nonce { claims["nonce"] = .string(nonce) }
        bind(signIn, &claims)
        if signIn.tellsEmail, let email = signIn.person.toldEmail {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(signIn.person.isEmailVerified)
            if signIn.person.hidesEmail { claims["is_private_email"] = true }
        }
        claims["auth_time"] = .integer(signIn.authenticatedAtSeconds)
        claims["nonce_supported"] = true
        // 2: likely a real person.
        if isFirst { claims["real_user_status"] = 2 }
        if let transferSubject = signIn.transferSubject { claims["transfer_sub"] = .string(transferSubject) }
        return claims
    }

    /// The claims in the response of Apple's token endpoint to a refresh token: no nonce, and nothing about the sign-in.
    static func appleRefresh(
        _ acquaintance: SimulatorState.Acquaintance,
        _ grant: SimulatorState.Grant,
        issuedAtSeconds: Int64,
        accessToken: String
    ) -> JSONObject {
        var claims: JSONObject = [
            "iss": .string(Provider.apple.issuer),
            "aud": .string(acquaintance.clientID),
            "exp": .integer(issuedAtSeconds + Provider.apple.tokenLifetimeSeconds),
            "iat": .integer(issuedAtSeconds),
            "sub": .string(acquaintance.subject),
            "at_hash": .string(SignatureAlgorithm.rs256.halfHash(of: accessToken)),
        ]
        if let email = grant.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(grant.isEmailVerified)
            if grant.isPrivateEmail { claims["is_private_email"] = true }
        }
        return claims
    }

    /// Google's claims, with the name.
    static func google(_ signIn: SignIn) -> JSONObject {
        let person = signIn.person
        var claims: JSONObject = [
            "iss": .string(Provider.google.issuer),
            "azp": .string(signIn.clientID),
            "aud": .string(signIn.clientID),
            "sub": .string(person.subject),
        ]
        if signIn.tellsEmail, let email = person.email {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(person.isEmailVerified)
        }
        bind(signIn, &claims)
        if let nonce = signIn.nonce { claims["nonce"] = .string(nonce) }
        addNames(person, &claims)
        claims["iat"] = .integer(signIn.issuedAtSeconds)
        claims["exp"] = .integer(signIn.expiresAtSeconds)
        return claims
    }

    /// Facebook's claims, of Limited Login: with a `jti`, and without `email_verified`.
    static func facebook(_ signIn: SignIn, tokenID: String) -> JSONObject {
        var claims: JSONObject = [
            "iss": .string(Provider.facebook.issuer),
            "aud": .string(signIn.clientID),
            "exp": .integer(signIn.expiresAtSeconds),
            "iat": .integer(signIn.issuedAtSeconds),
            "jti": .string(tokenID),
        ]
        if let nonce = signIn.nonce { claims["nonce"] = .string(nonce) }
        claims["sub"] = .string(signIn.person.subject)
        if let email = signIn.person.email { claims["email"] = .string(email) }
        addNames(signIn.person, &claims)
        return claims
    }

    private static func bind(_ signIn: SignIn, _ claims: inout JSONObject) {
        if let code = signIn.code { claims["c_hash"] = .string(SignatureAlgorithm.rs256.halfHash(of: code)) }
        if let token = signIn.accessToken { claims["at_hash"] = .string(SignatureAlgorithm.rs256.halfHash(of: token)) }
    }

    private static func addNames(_ person: Person, _ claims: inout JSONObject) {
        if let name = person.fullName { claims["name"] = .string(name) }
        if let name = person.givenName { claims["given_name"] = .string(name) }
        if let name = person.familyName { claims["family_name"] = .string(name) }
    }
}
