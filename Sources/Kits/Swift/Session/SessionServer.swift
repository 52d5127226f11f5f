import Foundation

/// What the server does with sessions: refreshes and ends them. Sessions of a client of OpenID Connect have endpoints of their own.
struct SessionServer: Sendable {
    let wire: Wire
    let retries: Retries
    let clock: TokenClock

    /// How a refresh came out.
    enum Refreshed: Sendable {
        case session(SessionRecord.Session)
        /// The session is over, for this reason.
        case over(VestibuleError)
    }

    /// Exchanges a session's refresh token once. It may be repeated with the same token as often as it takes.
    ///
    /// - Throws: ``CallFailure`` if the session stays and there is no new token, or `CancellationError`.
    func refresh(_ session: SessionRecord.Session, _ timeout: Duration) async throws -> Refreshed {
        do {
            let response = try await Deadline(in: timeout).run { try await refresh(session, timeout: timeout) }
            return .session(try tokens(response, of: session))
        } catch CallFailure.refused(let error, isOwn: true) where Self.isOver(error) {
            return .over(error)
        } catch CallFailure.refused(let error, isOwn: true) where error.code == .invalidGrant && error.status == 400 {
            return .over(VestibuleError(.refreshTokenInvalid, error.message, status: error.status))
        } catch let error as VestibuleError where error.code == .timeout {
            throw CallFailure.lost(HTTPFailure(wasNotSent: false, isTimeout: true, message: error.message))
        }
    }

    /// Whether a refresh that was refused by the server shows that the session is over.
    static func isOver(_ error: VestibuleError) -> Bool {
        guard let status = error.status, 400..<500 ~= status else { return false }
        return ErrorTable.endsSessionOnRefresh(error.code)
    }

    /// Anything but the server's own refusal may have been the network's.
    static func mayRetryRefresh(_ failure: CallFailure) -> Bool {
        guard case .refused(let error, isOwn: true) = failure else { return true }
        return error.status == 429 || (error.status ?? 0) >= 500
    }

    private func refresh(_ session: SessionRecord.Session, timeout: Duration) async throws -> JSONObject {
        if let clientID = session.clientID {
            return try await wire.form(
                "/oauth2/token",
                ["grant_type": "refresh_token", "refresh_token": session.refreshToken, "client_id": clientID]
            )
        }
        return try await wire.call(
            .refreshSession,
            JSONObject(["refreshToken": .text(session.refreshToken)]),
            token: nil,
            timeout: timeout
        )
    }

    /// The session of a response to a refresh, received now.
    private func tokens(_ response: JSONObject, of session: SessionRecord.Session) throws -> SessionRecord.Session {
        guard let clientID = session.clientID else {
            var next = try tokens(response.object("tokens"))
            next.isGuest = session.isGuest
            return next
        }
        return try tokens(oauth: response, clientID: clientID, of: session)
    }

    /// Ends a session.
    ///
    /// - Returns: Whether it is confirmed, by a success or by a refusal of the server's own.
    func end(_ signOut: SessionRecord.SignOut, _ deadline: Deadline) async -> Bool {
        do {
            _ = try await retries.run(deadline, mayRetry: { RetryPolicy.mayRetry($0, isIdempotent: true) }) { timeout in
                if let clientID = signOut.clientID {
                    return try await wire.form(
                        "/oauth2/revoke",
                        ["token": signOut.refreshToken, "token_type_hint": "refresh_token", "client_id": clientID]
                    )
                }
                return try await wire.call(
                    .signOut,
                    JSONObject(["refreshToken": .text(signOut.refreshToken)]),
                    token: nil,
                    timeout: timeout
                )
            }
            return true
        } catch CallFailure.refused(let error, isOwn: true) {
            return error.status.map { 400..<500 ~= $0 && $0 != 429 } ?? false
        } catch {
            return false
        }
    }

    /// The session of `SessionTokens`, received now.
    ///
    /// - Throws: ``CallFailure`` if they are none.
    func tokens(_ json: JSONObject?) throws -> SessionRecord.Session {
        guard let tokens = json.map(Vestibule.SessionTokens.init(json:)), !tokens.accessToken.isEmpty,
            !tokens.refreshToken.isEmpty
        else { throw CallFailure.refused(.badResponse(status: 200), isOwn: false) }
        return SessionRecord.Session(
            accessToken: tokens.accessToken,
            refreshToken: tokens.refreshToken,
            idToken: tokens.idToken.isEmpty ? nil : tokens.idToken,
            userID: tokens.userID,
            sessionID: tokens.sessionID,
            clientID: nil,
            lifetimeSeconds: Int64(tokens.expiresInSeconds),
            receivedAt: clock.wall()
        )
    }

    /// The session of a response of the token endpoint, received now. The user and the session are those of the ID token; a refresh that
    /// has none keeps them.
    func tokens(
        oauth json: JSONObject,
        clientID: String,
        of earlier: SessionRecord.Session? = nil
    ) throws -> SessionRecord.Session {
        let claims = json.text("id_token").flatMap(JWTClaims.init)
        guard let accessToken = json.text("access_token"),
            let refreshToken = json.text("refresh_token") ?? earlier?.refreshToken,
            let userID = claims?.subject ?? earlier?.userID
        else { throw CallFailure.refused(.badResponse(status: 200), isOwn: false) }
        return SessionRecord.Session(
            accessToken: accessToken,
            refreshToken: refreshToken,
            idToken: json.text("id_token") ?? earlier?.idToken,
            userID: userID,
            sessionID: claims?.sessionID ?? earlier?.sessionID ?? "",
            clientID: clientID,
            lifetimeSeconds: json.value("expires_in"),
            receivedAt: clock.wall()
        )
    }
}

/// Claims of an ID token, read without a look at its signature: it came from its issuer directly (OpenID Connect Core section 3.1.3.7),
/// or is only compared with what the app says.
struct JWTClaims {
    let claims: JSONObject

    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let data = Data(base64URL: parts[1]), let claims = try? JSONObject(parsing: data) else {
            return nil
        }
        self.claims = claims
    }

    var subject: String? { claims.text("sub") }
    var sessionID: String? { claims.text("sid") }
    var nonce: String? { claims.text("nonce") }
    var issuer: String? { claims.text("iss") }
    /// One of a text or a list of texts (RFC 7519 section 4.1.3).
    var audience: [String] { claims.text("aud").map { [$0] } ?? claims.list("aud") }
}

extension Data {
    /// Reads base64url without padding (RFC 4648 section 5).
    init?(base64URL text: some StringProtocol) {
        var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        self.init(base64Encoded: base64)
    }

    /// Base64url without padding.
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
