import JOSE

/// The result of a sign-in for the app, or for the browser on its way back.
struct SignInResult: Sendable {
    var idToken: String?
    var code: String?
    var accessToken: String?
    /// The data that Apple sends only the first time.
    var user: JSONObject?
}

extension SimulatorStore {
    /// Signs a person in with Apple. The name is included the first time that this client sees the person.
    func signInWithApple(_ order: SignInOrder) throws -> SignInResult {
        let formerly = SimulatorState.Acquaintance(clientID: order.clientID, subject: order.person.subject)
        let asked = order
        let order = moved(order)
        let acquaintance = SimulatorState.Acquaintance(clientID: order.clientID, subject: order.person.subject)
        let known = state.grant(of: acquaintance)
        // A person whom the app knew before its move isn't new to it.
        let isFirst = known == nil && state.grant(of: formerly) == nil
        let grant = SimulatorState.Grant(
            id: known?.id ?? Hex.encode(environment.randomBytes(16)),
            email: order.tellsEmail ? order.person.toldEmail : known?.email,
            isEmailVerified: order.person.isEmailVerified,
            isPrivateEmail: order.person.hidesEmail
        )
        // Apple's codes have this form; the parts mean nothing to anyone else.
        let code = "c\(Hex.encode(environment.randomBytes(16))).0.\(Base64URL.encode(environment.randomBytes(20)))"
        var result = SignInResult(code: code)
        if order.wantsIDToken {
            var signIn = signIn(order, .apple, order.overrides)
            signIn.code = code
            result.idToken = try sign(
                TokenClaims.apple(signIn, isFirst: isFirst),
                order.overrides,
                .apple
            )
        }
        // Stored before the name is sent: a client gets a person's name only once.
        if grant != known { try change { _ = $0.meet(acquaintance, grant: grant) } }
        keepCode(code, order, .apple, grantID: grant.id)
        if isFirst { result.user = user(order) }
        remember(asked.person, .apple)
        return result
    }

    /// Signs a person in with Google.
    func signInWithGoogle(_ order: SignInOrder) throws -> SignInResult {
        var order = order
        // The same length as the SDK's nonces; the app never gets it.
        if order.sdk == .ios { order.nonce = Base64URL.encode(environment.randomBytes(32)) }
        let code = "4/0A\(Base64URL.encode(environment.randomBytes(48)))"
        var result = SignInResult(code: code)
        if order.wantsAccessToken { result.accessToken = makeAccessToken(order, .google) }
        if order.wantsIDToken {
            var signIn = signIn(order, .google, order.overrides)
            if order.isHybrid { signIn.code = code }
            // The iOS SDK's ID token comes from the token endpoint, together with an access token.
            if order.sdk == .ios { signIn.accessToken = result.accessToken }
            result.idToken = try sign(TokenClaims.google(signIn), order.overrides, .google)
        }
        keepCode(code, order, .google, grantID: try newGoogleGrant(order))
        remember(order.person, .google)
        return result
    }

    /// The grant whose refresh token a Google code brings: an app's first grant of a person, and the first after a revocation. In a
    /// browser there is none, as without a request for offline access.
    private func newGoogleGrant(_ order: SignInOrder) throws -> String? {
        let acquaintance = SimulatorState.Acquaintance(
            clientID: Self.googleClient(order.clientID),
            subject: order.person.subject
        )
        guard order.redirectURI == nil, state.grant(of: acquaintance) == nil else { return nil }
        let grant = SimulatorState.Grant(
            id: Hex.encode(environment.randomBytes(16)),
            email: order.person.email,
            isEmailVerified: order.person.isEmailVerified,
            isPrivateEmail: false
        )
        try change { _ = $0.meet(acquaintance, grant: grant) }
        return grant.id
    }

    /// The key of a Google client among all clients with grants: Apple may have a client of the same name.
    static func googleClient(_ clientID: String) -> String { "google \(clientID)" }

    /// Signs a person in with Facebook: classic login's access token, and Limited Login's ID token.
    func signInWithFacebook(_ order: SignInOrder) throws -> SignInResult {
        let tokenID = Base64URL.encode(environment.randomBytes(16))
        let claims = TokenClaims.facebook(signIn(order, .facebook, order.overrides), tokenID: tokenID)
        return SignInResult(
            idToken: try sign(claims, order.overrides, .facebook),
            accessToken: makeAccessToken(order, .facebook)
        )
    }

    /// Makes an access token that the provider's own endpoints know.
    func makeAccessToken(_ order: SignInOrder, _ provider: Provider) -> String {
        let prefix = provider == .google ? "ya29.a0" : "EAA"
        let token = prefix + Base64URL.encode(environment.randomBytes(48))
        let now = environment.nowSeconds()
        let access = AccessToken(
            provider: provider,
            clientID: order.clientID,
            person: order.person,
            tellsEmail: order.tellsEmail,
            issuedAtSeconds: now,
            expiresAtSeconds: now + (order.accessTokenExpiresInSeconds ?? provider.accessTokenLifetimeSeconds)
        )
        accessTokens.keep(access, as: token)
        return token
    }

    /// The data that all tokens share, at this moment.
    func signIn(_ order: SignInOrder, _ provider: Provider, _ overrides: TokenOverrides) -> TokenClaims.SignIn {
        let issuedAt = environment.nowSeconds() + overrides.issuedInSeconds
        return TokenClaims.SignIn(
            clientID: order.clientID,
            nonce: order.nonce,
            person: order.person,
            authenticatedAtSeconds: issuedAt,
            issuedAtSeconds: issuedAt,
            expiresAtSeconds: issuedAt + (overrides.expiresInSeconds ?? provider.tokenLifetimeSeconds),
            tellsEmail: order.tellsEmail,
            transferSubject: order.transferSubject
        )
    }

    private func keepCode(_ code: String, _ order: SignInOrder, _ provider: Provider, grantID: String?) {
        codes.keep(
            AuthorizationCode(
                provider: provider,
                order: order,
                grantID: grantID,
                issuedAtSeconds: environment.nowSeconds()
            ),
            as: code
        )
    }

    /// The user object that Apple sends beside the token the first time: the name, and the e-mail as the app sees it. Nil if the
    /// app asked for neither.
    private func user(_ order: SignInOrder) -> JSONObject? {
        guard order.tellsName || order.tellsEmail else { return nil }
        var user = JSONObject()
        if order.tellsName {
            var name = JSONObject()
            if let given = order.person.givenName { name["firstName"] = .string(given) }
            if let family = order.person.familyName { name["lastName"] = .string(family) }
            user["name"] = .object(name)
        }
        if order.tellsEmail, let email = order.person.toldEmail { user["email"] = .string(email) }
        return user
    }
}
