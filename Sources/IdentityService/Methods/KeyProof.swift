import API
import IdentityDomain
import JOSE
import Models
import RPC
import ServiceKit

/// Sessions that are bound to a key of their client (RFC 9449). Gateways verify the proofs.
extension IdentityMethods {
    /// The key whose possession the client of a call has proven to a gateway; nil without a proof, and for callers that are no gateway.
    func provenKey(_ context: ServerContext) -> JWKThumbprint? {
        guard let key = KeyMetadata.thumbprint(of: context.metadata),
            gateways.believes(context.peer.certificateNames)
        else { return nil }
        return key
    }

    /// Throws `keyNotProven` for a bound token if the client has not proven that it has the key, and `accessTokenInvalid` for one that is
    /// presented as bound and isn't (RFC 9449 section 7.1): gateways name a key with an access token for the scheme DPoP alone.
    func checkKey(of claims: AccessClaims, _ context: ServerContext) throws(IdentityError) {
        if claims.key == nil, provenKey(context) != nil { throw .accessTokenInvalid }
        try check(claims.key, context)
    }

    /// As ``checkKey(of:_:)-(AccessClaims,_)``, of a session, whose row says which key it is bound to. For refresh tokens, which don't say.
    func checkKey(of sessionID: SessionID, _ context: ServerContext) async throws {
        let session = try await store.introspectedSession(
            sessionID,
            sessionsFrom: sessionEpoch.sessionsFrom(deadline: context.deadline),
            deadline: context.deadline
        )
        try check(session?.key, context)
    }

    /// Throws `keyNotProven` unless the client has proven that it has a key; nil is any.
    func check(_ key: JWKThumbprint?, _ context: ServerContext) throws(IdentityError) {
        guard let key else { return }
        guard let proven = provenKey(context), ConstantTime.areEqual(proven.bytes, key.bytes) else {
            throw .keyNotProven
        }
    }

    /// The tokens of a session that was opened now, or a moment ago by the same credentials: then they may be somebody else's copy.
    ///
    /// - Throws: `keyNotProven` for a session that is bound to another key than the client's, and for a single token of a bound session, which
    ///   would be good without the key.
    func tokens(
        of session: StoredSession,
        style: IdentityV1.TokenStyle = .unspecified,
        _ context: ServerContext
    ) throws -> IdentityV1.SessionTokens {
        try check(session.facts.key, context)
        guard style == .unspecified || session.facts.key == nil else { throw IdentityError.keyNotProven }
        return try mint.tokens(of: session, style: style)
    }

    /// Ids, the nonce and the key of the session that may be opened now.
    ///
    /// - Parameters:
    ///   - style: the tokens that the session gets. Single ones are never bound: their dialects know bearer tokens only.
    ///   - requiresKey: whether the app's sessions must be bound.
    /// - Throws: `keyNotProven` if the session must be bound and can't be.
    func newSession(
        _ context: ServerContext,
        style: IdentityV1.TokenStyle = .unspecified,
        requiresKey: Bool = false
    ) throws(IdentityError) -> NewSession {
        let key = style == .unspecified ? provenKey(context) : nil
        // A browser of our own pages is no app, and no script sees its token.
        if requiresKey, key == nil, style != .browser { throw .keyNotProven }
        return newSession(boundTo: key)
    }

    /// As ``newSession(_:style:requiresKey:)``, for credentials of a provider: the app is the one that they were issued to.
    func newSession(
        of signIn: SignIn,
        _ credentials: IdentityV1.SignInRequest,
        _ context: ServerContext
    ) throws(IdentityError) -> NewSession {
        let audience = providers[signIn.provider]?.policy.audiences[signIn.clientID]
        return try newSession(context, style: credentials.tokenStyle, requiresKey: audience?.requiresKey == true)
    }

    /// As ``newSession(_:style:requiresKey:)``, with a key that is known.
    func newSession(boundTo key: JWKThumbprint?) -> NewSession {
        NewSession(
            userID: identifiers.make(),
            sessionID: identifiers.make(),
            nonce: randomBytes(RefreshToken.nonceByteCount),
            key: key
        )
    }
}
