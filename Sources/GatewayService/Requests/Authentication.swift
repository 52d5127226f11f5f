import API
import DPoP
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit

/// Who makes a request, by its access token: a bearer token (RFC 6750), or one that is bound to a key (RFC 9449).
package struct Authentication: Sendable {
    /// The challenge of every 401 (RFC 9110 section 15.5.2).
    static let challenge = #"Bearer realm="vestibule""#
    /// The challenge where a token was presented and refused (RFC 6750 section 3).
    static let invalidTokenChallenge = challenge + #", error="invalid_token""#

    /// The metadata key of the client's address: an IPv4 address, or the first address of an IPv6 client's /64.
    static let clientAddressKey = "vestibule-client-address"

    /// The longest access token that is passed on, in bytes.
    static let tokenBytesMax = 8192

    let identity: IdentityServiceClient
    let rateLimit: RateLimit
    /// Identity's answers that are used again; nil where it is asked with each request.
    let answers: SessionAnswers?
    /// Verifies proofs of possession; nil where there are none, and then no session is bound to a key.
    var keyProofs: KeyProofs?

    /// The caller as the user whose live session their token belongs to, and who has not asked for too much.
    ///
    /// - Parameters:
    ///   - isChange: whether what is asked changes something.
    ///   - act: what the user is about to do, if the sign-in must be recent and proven for that.
    ///   - dialect: the dialect whose route this is; a session without proof is good in its own only.
    /// - Throws: 401 without a token, `RPCError` for one that identity refuses, 429 for one request too many.
    func user(
        _ caller: Caller,
        isChange: Bool,
        act: IdentityV1.CheckedAct = .unspecified,
        in dialect: Dialect? = nil
    ) async throws -> SignedInUser {
        let token = try presented(caller)
        let session = try await session(token, caller, isChange: isChange, act: act, in: dialect)
        return SignedInUser(caller: caller, token, isChange: isChange, session)
    }

    /// As ``user(_:isChange:act:in:)``; a read that needs nothing of identity may go by an earlier answer while identity doesn't respond, where
    /// `VESTIBULE_GATEWAY_OUTAGE_GRACE` allows that.
    func userOrReader(
        _ caller: Caller,
        isChange: Bool,
        act: IdentityV1.CheckedAct = .unspecified
    ) async throws -> SignedInUser {
        guard !isChange, act == .unspecified, let answers, answers.outageGrace > .zero else {
            return try await user(caller, isChange: isChange, act: act)
        }
        let token = try presented(caller)
        let kept = await answers.answerInOutage(to: token.text, nowSeconds: WatchClock.nowSeconds)
        // Asking again would use the proof twice.
        guard let kept else {
            let session = try await session(token, caller, isChange: false, in: nil)
            return SignedInUser(caller: caller, token, isChange: false, session)
        }
        do {
            let session = try await session(token, caller, isChange: false, in: nil, limit: OutageAnswer.checkLimit)
            return SignedInUser(caller: caller, token, isChange: false, session)
        } catch let error as RPCError where OutageAnswer.isDue(after: error) {
            try admit(kept.response, token, isChange: false)
            answers.countOutageAnswer()
            return SignedInUser(caller: caller, token, isChange: false, kept.response, outage: kept)
        }
    }

    /// As ``user(_:isChange:act:in:)``, of somebody who wants to watch.
    func watching(_ caller: Caller) async throws -> (session: WatchingSession, proofs: IdentityV1.CallerProofs) {
        let session = try await session(presented(caller), caller, isChange: false, in: nil)
        let watching = WatchingSession(
            userID: session.userID,
            sessionID: session.sessionID,
            expiresAtSeconds: session.expiresAtSeconds
        )
        return (watching, session.callerProofs)
    }

    /// A user, and what the OAuth client was granted that the token was issued to.
    struct Granted: Sendable {
        let user: SignedInUser
        let userID: String
        /// None for a token of another app.
        let scopes: Set<Substring>
    }

    /// As ``user(_:isChange:act:in:)``, by a token that may come in a form.
    ///
    /// - Parameter formToken: that of the form; nil for that of the header.
    func granted(_ formToken: String?, _ caller: Caller) async throws -> Granted {
        let token = try formToken.map { PresentedToken(text: $0, proof: nil) } ?? presented(caller)
        let session = try await session(token, caller, isChange: false, in: nil)
        return Granted(
            user: SignedInUser(caller: caller, token, isChange: false, session),
            userID: session.userID,
            scopes: Set(session.scope.split(separator: " "))
        )
    }

    private func session(
        _ token: PresentedToken,
        _ caller: Caller,
        isChange: Bool,
        act: IdentityV1.CheckedAct = .unspecified,
        in dialect: Dialect?,
        limit: Duration? = nil
    ) async throws -> IdentityV1.CheckSessionResponse {
        let session: IdentityV1.CheckSessionResponse
        // An answer of before doesn't say how recent the sign-in is.
        if act == .unspecified, let known = answers?.answer(to: token.text) {
            // It holds in every dialect: identity allows no further use of an answer about a session that is bound to one.
            session = known
        } else {
            let asking = answers?.ask()
            var call = IdentityV1.CheckSessionRequest()
            call.accessToken = token.text
            call.dialect = dialect?.rawValue ?? ""
            call.act = act
            let options = caller.callOptions(limit: limit).naming(token.key)
            session = try await identity.checkSession(call, options: options)
            if let asking {
                // A page's token is made for one visit.
                let isForOnce = if case .page = caller { true } else { false }
                answers?.keep(session, to: token.text, isForOnce: isForOnce, asking)
            }
        }
        try admit(session, token, isChange: isChange)
        return session
    }

    /// Admits a request of a session, if the token is presented as it must be.
    private func admit(
        _ session: IdentityV1.CheckSessionResponse,
        _ token: PresentedToken,
        isChange: Bool
    ) throws(Problem) {
        try token.check(boundTo: session.keyThumbprint)
        try rateLimit.admit(account: session.userID, isChange: isChange)
        if let proof = token.proof { try keyProofs?.use(proof, in: .session) }
    }

    /// The user of a dialect's request, which changes something unless its method is one that only reads.
    func user(_ request: Request, _ context: RouteContext, in dialect: Dialect) async throws -> SignedInUser {
        let isChange = request.method != .get && request.method != .head
        return try await user(.route(request, context), isChange: isChange, in: dialect)
    }

    /// The access token of a request that must have one, with the verified proof where it is presented as bound. The proof isn't used up.
    ///
    /// - Throws: 401 without a token, for one that cannot be one, and for a proof that isn't good.
    private func presented(_ caller: Caller) throws(Problem) -> PresentedToken {
        let (text, isBound) = try Self.requiredCredentials(caller.headers)
        guard isBound else { return PresentedToken(text: text, proof: nil) }
        guard let keyProofs else { throw KeyProofs.off }
        guard let proof = try keyProofs.proof(of: caller, accessToken: text) else { throw KeyProofs.required }
        return PresentedToken(text: text, proof: proof)
    }

    /// The access token of a request that must have one, for a method by which identity judges it. The proof of a bound token is used up.
    ///
    /// - Throws: as ``presented(_:)``; 401 for a proof that was used before.
    func presentedToIdentity(_ caller: Caller) throws(Problem) -> PresentedToken {
        let token = try presented(caller)
        if let proof = token.proof { try keyProofs?.use(proof, in: .anyone) }
        return token
    }

    /// The key that a request without an access token proves possession of; nil if it proves none. The proof is used up.
    func provenKey(_ caller: Caller) throws(Problem) -> JWKThumbprint? {
        guard let keyProofs, let proof = try keyProofs.proof(of: caller) else { return nil }
        try keyProofs.use(proof, in: .anyone)
        return proof.thumbprint
    }

    /// The access token of a request that must have one, by whichever scheme.
    ///
    /// - Throws: 401 without one, and for one that cannot be one.
    @discardableResult
    static func requiredCredentials(_ headers: RequestFields) throws(Problem) -> (token: String, isBound: Bool) {
        guard let found = try credentials(headers) else { throw tokenRequired }
        return found
    }

    /// The access token; nil if the request carries no credentials, or those of another scheme.
    ///
    /// - Throws: 401 for a token that cannot be one (RFC 6750 section 2.1).
    static func credentials(_ headers: RequestFields) throws(Problem) -> (token: String, isBound: Bool)? {
        guard let header = headers.bytes(of: .authorization) else { return nil }
        switch header.withUnsafeBufferPointer(Self.credentials) {
        case .otherScheme: return nil
        case .token(let token, let isBound): return (token, isBound)
        case .malformed: throw invalidToken
        }
    }

    /// The bearer token of a request that must have one. One that is bound to a key comes by another scheme.
    ///
    /// - Throws: 401 without one, and for one that cannot be one.
    package static func requiredToken(_ headers: RequestFields) throws(Problem) -> String {
        if let token = try token(headers) { return token }
        throw tokenRequired
    }

    private static let tokenRequired = Problem(
        .unauthorized,
        code: "AUTHENTICATION_REQUIRED",
        detail: "This path needs an access token.",
        headers: [.wwwAuthenticate: challenge]
    )

    /// What a call is made with whose service limits client addresses, over all replicas, itself.
    func callOptionsWithAddress(_ caller: Caller) -> CallOptions {
        var options = caller.callOptions()
        if let address = rateLimit.client(caller).text {
            options.metadata.add(Self.clientAddressKey, address)
        }
        return options
    }

    /// The bearer token; nil if the request carries no credentials, or those of another scheme.
    ///
    /// - Throws: 401 for a bearer token that cannot be one (RFC 6750 section 2.1).
    static func token(_ headers: RequestFields) throws(Problem) -> String? {
        guard let found = try credentials(headers), !found.isBound else { return nil }
        return found.token
    }

    /// The bearer token of a form (RFC 6750 section 2.2).
    ///
    /// - Throws: 401 for one that cannot be one.
    static func token(ofForm token: String) throws(Problem) -> String {
        guard 1...tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy(isTokenByte) else { throw invalidToken }
        return token
    }

    private static let invalidToken = Problem(
        .unauthorized,
        code: "ACCESS_TOKEN_INVALID",
        detail: "The access token is not valid.",
        headers: [.wwwAuthenticate: invalidTokenChallenge]
    )

    private enum Credentials {
        case otherScheme
        case token(String, isBound: Bool)
        case malformed
    }

    /// Reads the value of Authorization: a scheme, in capitals or not, spaces, and what belongs to it.
    private static func credentials(_ value: UnsafeBufferPointer<UInt8>) -> Credentials {
        let space = UInt8(ascii: " ")
        var start = 0
        while start < value.count, value[start] == space { start += 1 }
        let rest = UnsafeBufferPointer(rebasing: value[start...])
        let isBound = hasPrefix("dpop", rest)
        guard isBound || hasPrefix("bearer", rest) else { return .otherScheme }
        start += isBound ? 4 : 6
        guard start == value.count || value[start] == space else { return .otherScheme }
        while start < value.count, value[start] == space { start += 1 }
        let token = UnsafeBufferPointer(rebasing: value[start...])
        guard 1...tokenBytesMax ~= token.count, isToken(token) else { return .malformed }
        return .token(String(decoding: token, as: UTF8.self), isBound: isBound)
    }

    /// Whether a text begins with a word of small letters, in capitals or not.
    private static func hasPrefix(_ word: StaticString, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= word.utf8CodeUnitCount else { return false }
        // In ASCII a letter and its capital differ in one bit.
        for index in 0..<word.utf8CodeUnitCount where text[index] | 0x20 != word.utf8Start[index] { return false }
        return true
    }

    /// A token has hundreds of bytes and comes with each request: without branches and an early end, so that the compiler looks
    /// at many at once.
    private static func isToken(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var others: UInt8 = 0
        for byte in bytes {
            let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 1 : 0
            let isDigitOrMark: UInt8 = byte &- UInt8(ascii: "-") < 13 ? 1 : 0  // the digits come after "-./"
            let isLine: UInt8 = byte == UInt8(ascii: "_") ? 1 : 0
            let isTilde: UInt8 = byte == UInt8(ascii: "~") ? 1 : 0
            let isPlus: UInt8 = byte == UInt8(ascii: "+") ? 1 : 0
            let isEqual: UInt8 = byte == UInt8(ascii: "=") ? 1 : 0
            others |= (isLetter | isDigitOrMark | isLine | isTilde | isPlus | isEqual) ^ 1
        }
        return others == 0
    }

    /// Whether a bearer token may hold a byte (RFC 6750 section 2.1): letters, digits and `-._~+/=`.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=".utf8.contains(byte)
    }
}

extension SignedInUser {
    /// The user of a live session.
    fileprivate init(
        caller: Caller,
        _ token: PresentedToken,
        isChange: Bool,
        _ session: IdentityV1.CheckSessionResponse,
        outage: OutageAnswer? = nil
    ) {
        self.init(
            caller: caller,
            token: token,
            isChange: isChange,
            userID: session.userID,
            isGuest: session.proof == .guest,
            proofs: session.callerProofs,
            outage: outage
        )
    }
}
