import Foundation

/// A sign-in by the server's own page in a browser: OpenID Connect with PKCE (RFC 7636).
extension Vestibule {
    private static let scope = "openid profile email offline_access"
    private static let secretBytes = 32

    /// Begins a sign-in by the server's page. The app opens the page in the system's browser, and passes what the browser is sent back
    /// with to ``finishSignIn(callback:deadline:)``, also if it was ended meanwhile. On Apple's platforms `signInByWeb` does all of it. The
    /// user has an hour.
    ///
    /// - Parameters:
    ///   - redirectURI: Where the browser is sent back to, as configured for the client.
    ///   - provider: The provider to go to without a choice.
    ///   - parameters: More parameters of the request, such as `prompt` with `select_account`, which asks for the user although the browser
    ///     remembers one. They can't replace the kit's own.
    /// - Returns: The page.
    /// - Throws: ``VestibuleError`` with `STORE_FAILED`, or `CancellationError`.
    public func beginSignIn(
        redirectURI: String,
        provider: String? = nil,
        parameters: [String: String] = [:]
    ) async throws -> URL {
        precondition(clientID != nil, "A sign-in by the page needs a client id")
        let hosted = SessionRecord.Hosted(
            state: RandomText.base64URL(bytes: Self.secretBytes),
            nonce: RandomText.base64URL(bytes: Self.secretBytes),
            verifier: RandomText.base64URL(bytes: Self.secretBytes),
            redirectURI: redirectURI,
            begunAt: clock.wall()
        )
        try await until(nil) { [keeper] _ in try await keeper.keepHosted(hosted) }
        var fields: [String: String] = parameters.merging([
            "response_type": "code", "client_id": clientID ?? "", "redirect_uri": redirectURI, "scope": Self.scope,
            "state": hosted.state, "nonce": hosted.nonce,
            "code_challenge": Data(SHA256Digest.of(Array(hosted.verifier.utf8))).base64URL,
            "code_challenge_method": "S256",
        ]) { _, own in own }
        if let provider { fields["idp"] = provider }
        return URL(string: "\(ServerURL.base(url))/oauth2/authorize?\(FormText.text(fields))") ?? url
    }

    /// Ends a sign-in by the server's page: signs the user in, in the place of the user who was signed in. A callback is good once, so it
    /// goes on if its task is cancelled.
    ///
    /// - Parameter callback: The URL that the browser was sent back to.
    /// - Returns: The user's id.
    /// - Throws: ``VestibuleError`` with `CANCELLED` if the user has turned back at the page, `WEB_STATE_INVALID` for a callback that this
    ///   app didn't begin, or that came before, `INVALID_GRANT` for a code that the server refuses, and others; `CancellationError` if the
    ///   task is cancelled.
    @discardableResult
    public func finishSignIn(callback: URL, deadline: Duration? = nil) async throws -> String {
        try await Flight.run { [self] in
            try await until(deadline) { [self] deadline in
                let answer = HostedAnswer(callback)
                guard let hosted = try await keeper.takeHosted(state: answer.state) else {
                    throw HostedAnswer.invalid("This app did not begin this sign-in.")
                }
                let session = try await self.session(of: try answer.code(issuer: issuer), hosted, deadline)
                try await keeper.begin(session)
                return session.userID
            }
        }
    }

    /// Exchanges the code of a sign-in by the page.
    private func session(
        of code: String,
        _ hosted: SessionRecord.Hosted,
        _ deadline: Deadline
    ) async throws -> SessionRecord.Session {
        let clientID = clientID ?? ""
        // A code works once, and its second use ends the session that it opened: the page is the way to try again.
        let response = try await send(false, deadline) { _ in
            let response = try await wire.form(
                "/oauth2/token",
                [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": hosted.redirectURI,
                    "client_id": clientID, "code_verifier": hosted.verifier,
                ]
            )
            _ = try keeper.server.tokens(oauth: response, clientID: clientID)
            return response
        }
        guard let claims = response.text("id_token").flatMap(JWTClaims.init), claims.nonce == hosted.nonce,
            claims.issuer == issuer, claims.audience.contains(clientID)
        else { throw HostedAnswer.invalid("The ID token is not of this sign-in.") }
        return try keeper.server.tokens(oauth: response, clientID: clientID)
    }
}

/// The answer of the page: what the browser was sent back with. Pure decisions.
struct HostedAnswer {
    private let items: [URLQueryItem]

    init(_ callback: URL) {
        items = URLComponents(url: callback, resolvingAgainstBaseURL: false)?.queryItems ?? []
    }

    var state: String? { item("state") }

    private func item(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// The authorization code.
    ///
    /// - Parameter issuer: Who may answer (RFC 9207).
    /// - Throws: ``VestibuleError``, with `CANCELLED` if the user has turned back.
    func code(issuer: String) throws -> String {
        guard item("iss") == issuer else { throw Self.invalid("The answer is another server's.") }
        if let error = item("error") {
            if error == "access_denied" {
                throw VestibuleError(.cancelled, "The user has turned back at the page.", action: .show)
            }
            throw VestibuleError(
                .init(rawValue: error.uppercased()),
                item("error_description") ?? error,
                action: .signInAgain
            )
        }
        guard let code = item("code"), !code.isEmpty else { throw Self.invalid("The answer has no code.") }
        return code
    }

    static func invalid(_ message: String) -> VestibuleError {
        VestibuleError(.webStateInvalid, message, action: .signInAgain)
    }
}
