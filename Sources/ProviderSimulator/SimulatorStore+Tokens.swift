import HTTPJSON
import HTTPTypes
import JOSE

extension SimulatorStore {
    /// Apple's token endpoint.
    func appleTokens(_ form: FormFields) throws -> JSONObject {
        let (clientID, teamID) = try authenticateWithApple(form)
        switch form["grant_type"] {
        case "client_credentials": return try migrationToken(form, clientID: clientID, teamID: teamID)
        case "authorization_code":
            let code = try spend(form, .apple, clientID)
            guard let grantID = code.grantID, state.owner(ofGrant: grantID) != nil else {
                throw OAuthError.invalidGrant("The code has expired or has been revoked.")
            }
            let access = grantToken(.access, grantID)
            var signIn = signIn(code.order, .apple, code.order.exchangeOverrides)
            signIn.authenticatedAtSeconds = code.issuedAtSeconds
            signIn.accessToken = access
            let claims = TokenClaims.apple(signIn, isFirst: false)
            return [
                "access_token": .string(access), "token_type": "Bearer",
                "expires_in": .integer(Provider.apple.accessTokenLifetimeSeconds),
                "refresh_token": .string(grantToken(.refresh, grantID)),
                "id_token": .string(try sign(claims, code.order.exchangeOverrides, .apple)),
            ]
        case "refresh_token":
            let token = form["refresh_token"] ?? ""
            guard let grantID = GrantToken.grantID(token, .refresh, key: state.tokenKey),
                let owner = state.owner(ofGrant: grantID), let grant = state.grant(of: owner),
                owner.clientID == clientID
            else { throw OAuthError.invalidGrant("The token has expired or has been revoked.") }
            let access = grantToken(.access, grantID)
            let claims = TokenClaims.appleRefresh(
                owner,
                grant,
                issuedAtSeconds: environment.nowSeconds(),
                accessToken: access
            )
            return [
                "access_token": .string(access), "token_type": "Bearer",
                "expires_in": .integer(Provider.apple.accessTokenLifetimeSeconds),
                "id_token": .string(try sign(claims, TokenOverrides(), .apple)),
            ]
        case nil: throw OAuthError.invalidRequest
        default: throw OAuthError.unsupportedGrantType
        }
    }

    /// Apple's revocation endpoint: ends the whole grant that a token belongs to, and ignores any other token.
    func appleRevoke(_ form: FormFields) throws {
        let (clientID, _) = try authenticateWithApple(form)
        guard let token = form["token"], !token.isEmpty else { throw OAuthError.invalidRequest }
        let key = state.tokenKey
        guard
            let grantID = GrantToken.grantID(token, .refresh, key: key)
                ?? GrantToken.grantID(token, .access, key: key),
            let owner = state.owner(ofGrant: grantID), owner.clientID == clientID
        else { return }
        try change { $0.revoke(owner) }
    }

    /// Google's revocation endpoint, which needs no client authentication: ends the grant of a refresh token.
    func googleRevoke(_ token: String?) throws {
        guard let token, !token.isEmpty else {
            throw OAuthError.invalidRequest("Missing required parameter: token")
        }
        guard let grantID = GrantToken.grantID(token, .refresh, key: state.tokenKey),
            let owner = state.owner(ofGrant: grantID), owner.clientID.hasPrefix(Self.googleClient(""))
        else { throw OAuthError(word: "invalid_token", sentence: "Token expired or revoked") }
        try change { $0.revoke(owner) }
    }

    /// Google's token endpoint.
    ///
    /// - Parameter basic: client id and secret of an `Authorization` header, which take precedence over those of the form.
    func googleTokens(_ form: FormFields, basic: (clientID: String, secret: String)?) throws -> JSONObject {
        guard form.repeatedName == nil, let clientID = basic?.clientID ?? form["client_id"], !clientID.isEmpty else {
            throw OAuthError.invalidRequest("Could not determine client ID from request.")
        }
        if case .secret(let expected?)? = clients(.google, clientID).first?.credential {
            guard let secret = basic?.secret ?? form["client_secret"], ConstantTime.areEqual(secret, expected) else {
                throw OAuthError(status: .unauthorized, word: "invalid_client", sentence: "Unauthorized")
            }
        }
        guard let grantType = form["grant_type"] else {
            throw OAuthError.invalidRequest("Missing required parameter: grant_type")
        }
        if grantType == "refresh_token" { return try googleRefresh(form["refresh_token"] ?? "", clientID) }
        guard grantType == "authorization_code" else {
            throw OAuthError(word: "unsupported_grant_type", sentence: "Invalid grant_type: \(grantType)")
        }
        let code = try spend(form, .google, clientID)
        let access = makeAccessToken(code.order, .google)
        var signIn = signIn(code.order, .google, code.order.exchangeOverrides)
        signIn.accessToken = access
        var body: JSONObject = [
            "access_token": .string(access),
            "expires_in": .integer(Provider.google.accessTokenLifetimeSeconds - 1),
            "scope": .string(GoogleScopes.text(tellsEmail: code.order.tellsEmail)),
            "token_type": "Bearer",
            "id_token": .string(try sign(TokenClaims.google(signIn), code.order.exchangeOverrides, .google)),
        ]
        if let grantID = code.grantID { body["refresh_token"] = .string(grantToken(.refresh, grantID)) }
        return body
    }

    /// A new access token for a refresh token, which stays the same.
    private func googleRefresh(_ token: String, _ clientID: String) throws -> JSONObject {
        guard let grantID = GrantToken.grantID(token, .refresh, key: state.tokenKey),
            let owner = state.owner(ofGrant: grantID), let grant = state.grant(of: owner),
            owner.clientID == Self.googleClient(clientID)
        else { throw OAuthError.invalidGrant("Token has been expired or revoked.") }
        let person = Person(
            subject: owner.subject,
            email: grant.email,
            isEmailVerified: grant.isEmailVerified
        )
        let order = SignInOrder(clientID: clientID, nonce: nil, person: person)
        return [
            "access_token": .string(makeAccessToken(order, .google)),
            "expires_in": .integer(Provider.google.accessTokenLifetimeSeconds - 1),
            "scope": .string(GoogleScopes.text(tellsEmail: true)),
            "token_type": "Bearer",
        ]
    }

    /// Authenticates the client of a form. Returns the client and its team.
    func authenticateWithApple(_ form: FormFields) throws(OAuthError) -> (clientID: String, teamID: String) {
        guard form.repeatedName == nil else { throw .invalidRequest }
        guard let clientID = form["client_id"], !clientID.isEmpty, let secret = form["client_secret"] else {
            throw .invalidClient
        }
        let teamID = try AppleClientSecret.check(
            secret,
            clientID: clientID,
            registered: clients(.apple, clientID),
            nowSeconds: environment.nowSeconds()
        )
        return (clientID, teamID)
    }

    /// Spends and returns the code of a form. A code of another client is left unchanged.
    private func spend(
        _ form: FormFields,
        _ provider: Provider,
        _ clientID: String
    ) throws(OAuthError) -> AuthorizationCode {
        guard let text = form["code"], !text.isEmpty else { throw .invalidRequest }
        guard var code = codes[text], code.provider == provider,
            environment.nowSeconds() - code.issuedAtSeconds < AuthorizationCode.lifetimeSeconds
        else {
            throw .invalidGrant(
                provider == .apple ? "The code has expired or has been revoked." : "Malformed auth code."
            )
        }
        guard code.order.clientID == clientID else {
            throw provider == .apple
                ? .invalidGrant("client_id mismatch. The code was not issued to \(clientID).")
                : OAuthError(status: .unauthorized, word: "unauthorized_client", sentence: "Unauthorized")
        }
        guard !code.isSpent else {
            throw .invalidGrant(provider == .apple ? "The code has already been used." : "Bad Request")
        }
        guard Self.redirectURI(form, provider) == code.order.redirectURI else {
            throw provider == .apple
                ? .invalidGrant("redirect_uri mismatch. The code was issued to another redirect_uri.")
                : OAuthError(word: "redirect_uri_mismatch", sentence: "Bad Request")
        }
        guard code.order.challenge?.isProven(by: form["code_verifier"]) ?? true else {
            throw .invalidGrant("Invalid code verifier.")
        }
        code.isSpent = true
        codes.keep(code, as: text)
        return code
    }

    /// The redirect URI that the form names. Google's SDKs for apps send an empty text, its popup a word.
    private static func redirectURI(_ form: FormFields, _ provider: Provider) -> String? {
        guard let text = form["redirect_uri"] else { return nil }
        return provider == .google && (text.isEmpty || text == "postmessage") ? nil : text
    }

    private func grantToken(_ kind: GrantToken.Kind, _ grantID: String) -> String {
        GrantToken.make(
            kind,
            grantID: grantID,
            key: state.tokenKey,
            random: environment.randomBytes(GrantToken.randomCount)
        )
    }
}

/// The scopes of a sign-in in Google's format.
enum GoogleScopes {
    static func text(tellsEmail: Bool) -> String {
        let email = tellsEmail ? "https://www.googleapis.com/auth/userinfo.email " : ""
        return "\(email)https://www.googleapis.com/auth/userinfo.profile openid"
    }
}
