import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

extension IdentityMethods {
    /// Returns whether a token of ours is active and whose it is (RFC 7662 section 2.2). For any other text, and for a token whose
    /// session has ended, the response is only "inactive"; a forged one costs no work in the database.
    ///
    /// Asking is no use of the token: who asks is not the app that it was given to, and may have it from a log. Would it count
    /// as received, the app that never got it would be the one with an old token; would it count as a use, a session that
    /// nobody uses would live as long as somebody asks about it.
    func introspectToken(
        _ request: IdentityV1.IntrospectTokenRequest,
        context: ServerContext
    ) async throws -> IdentityV1.IntrospectTokenResponse {
        try await context.answer {
            guard let token = AskedToken(request.token, mint),
                let session = try await store.introspectedSession(
                    token.sessionID,
                    sessionsFrom: sessionEpoch.sessionsFrom(deadline: context.deadline),
                    deadline: context.deadline
                )
            else { return IdentityV1.IntrospectTokenResponse() }
            let expiresAtSeconds = token.end(
                in: session,
                limits: store.limits,
                nowMilliseconds: clock.nowMilliseconds
            )
            var response = IdentityV1.IntrospectTokenResponse()
            guard let expiresAtSeconds else { return response }
            response.active = true
            response.use = token.use
            response.userID = session.state.session.userID.description
            response.sessionID = token.sessionID.description
            response.clientID = session.clientID
            response.issuer = issuer.issuer
            response.audience = token.audience
            response.scope = session.scope ?? ""
            response.expiresAtSeconds = expiresAtSeconds
            response.isGuest = session.state.session.isGuest
            response.acr = AuthenticationContext(session.state.session.proof).rawValue
            response.signedInAtSeconds = session.signedInAtSeconds
            if let key = session.key { response.keyThumbprint = .init(key.bytes) }
            return response
        }
    }
}

/// A token of ours that somebody asks about.
enum AskedToken {
    case access(AccessClaims)
    case single(SingleClaims)
    case refresh(RefreshToken)

    /// The token that a text is; nil if we didn't make it.
    init?(_ text: String, _ mint: SessionTokenMint) {
        if let token = mint.refreshKeys.verify(text) {
            self = .refresh(token)
        } else if SingleTokens.isSingleToken(text) {
            guard let claims = try? mint.singleTokens.verifiedClaims(text) else { return nil }
            self = .single(claims)
        } else {
            guard let claims = try? mint.issuer.verifiedAccessClaims(text, audience: .any) else { return nil }
            self = .access(claims)
        }
    }

    /// When it ends, in Unix seconds; nil for one that would not be taken now.
    func end(in session: IntrospectedSession, limits: SessionLimits, nowMilliseconds: Int64) -> Int64? {
        switch self {
        case .access(let claims):
            session.takes(claims, nowMilliseconds: nowMilliseconds) ? claims.expiresAtSeconds : nil
        case .single(let claims):
            session.takes(claims, limits: limits, nowMilliseconds: nowMilliseconds) ? claims.expiresAtSeconds : nil
        case .refresh(let refresh):
            session.end(of: refresh, limits: limits, nowMilliseconds: nowMilliseconds)
        }
    }

    var sessionID: SessionID {
        switch self {
        case .access(let claims): claims.sessionID
        case .single(let claims): claims.sessionID
        case .refresh(let token): token.sessionID
        }
    }

    var use: IdentityV1.TokenUse {
        switch self {
        case .access, .single: .access
        case .refresh: .refresh
        }
    }

    var audience: String {
        switch self {
        case .access(let claims): claims.audience
        case .single: SingleTokens.Use.app.audience
        case .refresh: ""
        }
    }
}
