import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

extension OAuthMethods {
    /// Redeems an authorization code or a refresh token for its client (RFC 6749 sections 4.1.3 and 6).
    func issueTokens(
        _ request: IdentityV1.IssueTokensRequest,
        context: ServerContext
    ) async throws -> IdentityV1.IssueTokensResponse {
        try await context.answer {
            do {
                let form = OAuthForm(request.parameters)
                let client = try await client(form, request.client, deadline: context.deadline)
                let key = identity.provenKey(context)
                if client.requiresKey, key == nil { throw Self.keyNotProven }
                switch form["grant_type"] {
                case "authorization_code": return try await tokens(form, of: client, boundTo: key, context)
                case "refresh_token": return try await nextTokens(form, of: client, request, context)
                case nil: throw OAuthFailure(.invalidRequest, "The grant_type is missing.")
                default:
                    throw OAuthFailure(
                        .unsupportedGrantType,
                        "Only authorization_code and refresh_token are supported."
                    )
                }
            } catch let failure as OAuthFailure {
                var response = IdentityV1.IssueTokensResponse()
                response.failure = .init(failure)
                return response
            }
        }
    }

    private func tokens(
        _ form: OAuthForm,
        of client: OAuthClient,
        boundTo key: JWKThumbprint?,
        _ context: ServerContext
    ) async throws -> IdentityV1.IssueTokensResponse {
        let refusal = OAuthFailure(.invalidGrant, "The code is invalid, expired, redeemed, or another client's.")
        guard let text = form["code"] else { throw OAuthFailure(.invalidRequest, "The code is missing.") }
        let now = identity.clock.nowMilliseconds
        guard let code = AuthorizationCode(text),
            let issued = try await identity.store.issued(code, nowMilliseconds: now, deadline: context.deadline)
        else { throw refusal }
        // A wrong client or verifier doesn't use it up: a thief of the code can't spoil the client's sign-in.
        guard issued.clientID == client.id, form["redirect_uri"]?.utf8.elementsEqual(issued.redirectURI.utf8) == true,
            Self.isProven(issued.codeChallenge, by: form["code_verifier"])
        else { throw refusal }
        // RFC 9449 section 10: nor does a client without the key.
        if let bound = issued.key, key != bound { throw Self.keyNotProven }
        try Self.check(resource: form["resource"], of: issued.resource)
        let redeemed =
            issued.isRedeemed
            ? nil
            : try await redeem(code, of: client, boundTo: key, nowMilliseconds: now, deadline: context.deadline)
        guard let (session, nonce) = redeemed else {
            let isEnded = try await identity.store.endSession(
                openedBy: code,
                nowMilliseconds: now,
                deadline: context.deadline
            )
            if isEnded { identity.revocations.announce() }
            throw refusal
        }
        return try answer(session, scopes: OAuthScope.read(session.scope ?? ""), of: client, nonce: nonce)
    }

    private func redeem(
        _ code: AuthorizationCode,
        of client: OAuthClient,
        boundTo key: JWKThumbprint?,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> (session: StoredSession, nonce: String?)? {
        do {
            return try await identity.store.redeem(
                code,
                new: identity.newSession(boundTo: key),
                isTold: client.logoutURI != nil,
                accessTokenSeconds: client.accessTokenSeconds ?? identity.issuer.lifetimeSeconds,
                nowMilliseconds: nowMilliseconds,
                deadline: deadline
            )
        } catch IdentityError.signIn(.accountBlocked) {
            throw OAuthFailure(.invalidGrant, "The account is blocked.")
        }
    }

    private func nextTokens(
        _ form: OAuthForm,
        of client: OAuthClient,
        _ request: IdentityV1.IssueTokensRequest,
        _ context: ServerContext
    ) async throws -> IdentityV1.IssueTokensResponse {
        guard let text = form["refresh_token"] else {
            throw OAuthFailure(.invalidRequest, "The refresh_token is missing.")
        }
        var refresh = IdentityV1.RefreshRequest()
        refresh.refreshToken = text
        refresh.presentedAtMilliseconds = request.presentedAtMilliseconds
        let session: StoredSession
        do {
            session = try await identity.exchange(refresh, ofClient: client.id, context)
        } catch IdentityError.keyNotProven {
            throw Self.keyNotProven
        } catch let error as IdentityError {
            guard error.isOfRefreshToken else { throw error }
            throw OAuthFailure(.invalidGrant, "The refresh token is invalid, expired, or its session has ended.")
        }
        // From before the client's entry demanded it.
        if client.requiresKey, session.facts.key == nil {
            throw OAuthFailure(.invalidGrant, "The session is bound to no key, which the client needs now.")
        }
        let granted = OAuthScope.read(session.scope ?? "").intersection(client.scopes)
        guard granted.contains(.offlineAccess) else {
            throw OAuthFailure(.invalidGrant, "The client may not have refresh tokens any more.")
        }
        try Self.check(resource: form["resource"], of: session.resource)
        if let resource = session.resource, !client.resources.contains(resource) {
            throw OAuthFailure(.invalidGrant, "The client may not have tokens for this resource any more.")
        }
        // RFC 6749 section 6: no more than was granted, and than its entry still allows.
        if let asked = form["scope"], !OAuthScope.read(asked).isSubset(of: granted) {
            throw OAuthFailure(.invalidScope, "The scope was not granted.")
        }
        return try answer(session, scopes: granted, of: client, nonce: nil)
    }

    private func answer(
        _ session: StoredSession,
        scopes: Set<OAuthScope>,
        of client: OAuthClient,
        nonce: String?
    ) throws -> IdentityV1.IssueTokensResponse {
        let tokens = try identity.mint.clientTokens(of: session, scopes: scopes, client: client, nonce: nonce)
        var response = IdentityV1.IssueTokensResponse()
        response.accessToken = tokens.accessToken
        response.refreshToken = tokens.refreshToken
        response.idToken = tokens.idToken
        response.expiresInSeconds = tokens.expiresInSeconds
        response.scope = scopes.text
        response.isBoundToKey = tokens.isBoundToKey
        return response
    }

    private static let keyNotProven = OAuthFailure(
        .invalidDPoPProof,
        "A DPoP proof by the key that the client, the code or the refresh token is bound to is required."
    )

    /// A token request may name the resource that was granted, and no other (RFC 8707 section 2.2).
    private static func check(resource: String?, of granted: String?) throws(OAuthFailure) {
        guard let resource, resource != granted else { return }
        throw OAuthFailure(.invalidTarget, "The resource was not granted.")
    }

    /// Whether a verifier belongs to a challenge. A verifier without a challenge is rejected as well (RFC 9700 section 4.8.2): an attacker
    /// has removed the challenge.
    private static func isProven(_ challenge: String?, by verifier: String?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier, let computed = CodeChallenge.of(verifier: verifier) else { return false }
        return ConstantTime.areEqual(computed, challenge)
    }
}

extension IdentityError {
    /// Whether a refresh token, or its session, is at fault.
    fileprivate var isOfRefreshToken: Bool {
        switch self {
        case .refreshTokenInvalid, .refreshTokenReused, .sessionInvalid, .sessionExpired, .sessionRevoked,
            .sessionUnproven:
            true
        default: false
        }
    }
}
