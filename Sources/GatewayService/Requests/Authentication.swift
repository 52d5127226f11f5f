import API
import HTTPJSON
import HTTPTypes
import RPC
import ServiceKit

/// Who makes a request, by its bearer token (RFC 6750).
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
        let token = try Self.requiredToken(caller.headers)
        let session = try await session(token, caller, isChange: isChange, act: act, in: dialect)
        return SignedInUser(caller: caller, isChange: isChange, session)
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
        let token = try Self.requiredToken(caller.headers)
        let kept = await answers.answerInOutage(to: token, nowSeconds: WatchClock.nowSeconds)
        guard let kept else { return try await user(caller, isChange: isChange) }
        do {
            let session = try await session(token, caller, isChange: false, in: nil, limit: OutageAnswer.checkLimit)
            return SignedInUser(caller: caller, isChange: false, session)
        } catch let error as RPCError where OutageAnswer.isDue(after: error) {
            try rateLimit.admit(account: kept.response.userID, isChange: false)
            answers.countOutageAnswer()
            return SignedInUser(caller: caller, isChange: false, kept.response, outage: kept)
        }
    }

    /// As ``user(_:isChange:act:in:)``, of somebody who wants to watch.
    func watching(_ caller: Caller) async throws -> (session: WatchingSession, proofs: IdentityV1.CallerProofs) {
        let token = try Self.requiredToken(caller.headers)
        let session = try await session(token, caller, isChange: false, in: nil)
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
    func granted(_ token: String, _ caller: Caller) async throws -> Granted {
        let session = try await session(token, caller, isChange: false, in: nil)
        return Granted(
            user: SignedInUser(caller: caller, isChange: false, session),
            userID: session.userID,
            scopes: Set(session.scope.split(separator: " "))
        )
    }

    private func session(
        _ token: String,
        _ caller: Caller,
        isChange: Bool,
        act: IdentityV1.CheckedAct = .unspecified,
        in dialect: Dialect?,
        limit: Duration? = nil
    ) async throws -> IdentityV1.CheckSessionResponse {
        let session: IdentityV1.CheckSessionResponse
        // An answer of before doesn't say how recent the sign-in is.
        if act == .unspecified, let known = answers?.answer(to: token) {
            // It holds in every dialect: identity allows no further use of an answer about a session that is bound to one.
            session = known
        } else {
            let asking = answers?.ask()
            var call = IdentityV1.CheckSessionRequest()
            call.accessToken = token
            call.dialect = dialect?.rawValue ?? ""
            call.act = act
            session = try await identity.checkSession(call, options: caller.callOptions(limit: limit))
            if let asking {
                // A page's token is made for one visit.
                let isForOnce = if case .page = caller { true } else { false }
                answers?.keep(session, to: token, isForOnce: isForOnce, asking)
            }
        }
        try rateLimit.admit(account: session.userID, isChange: isChange)
        return session
    }

    /// The user of a dialect's request, which changes something unless its method is one that only reads.
    func user(_ request: Request, _ context: RouteContext, in dialect: Dialect) async throws -> SignedInUser {
        let isChange = request.method != .get && request.method != .head
        return try await user(.route(request, context), isChange: isChange, in: dialect)
    }

    /// The bearer token of a request that must have one.
    ///
    /// - Throws: 401 without one, and for one that cannot be one.
    package static func requiredToken(_ headers: RequestFields) throws(Problem) -> String {
        if let token = try token(headers) { return token }
        throw Problem(
            .unauthorized,
            code: "AUTHENTICATION_REQUIRED",
            detail: "This path needs an access token.",
            headers: [.wwwAuthenticate: challenge]
        )
    }

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
        guard let header = headers.bytes(of: .authorization) else { return nil }
        switch header.withUnsafeBufferPointer(Self.credentials) {
        case .otherScheme: return nil
        case .token(let token): return token
        case .malformed: throw invalidToken
        }
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
        case token(String)
        case malformed
    }

    /// Reads the value of Authorization: a scheme, in capitals or not, spaces, and what belongs to it.
    private static func credentials(_ value: UnsafeBufferPointer<UInt8>) -> Credentials {
        let space = UInt8(ascii: " ")
        var start = 0
        while start < value.count, value[start] == space { start += 1 }
        for letter in "bearer".utf8 {
            // In ASCII a letter and its capital differ in one bit.
            guard start < value.count, value[start] | 0x20 == letter else { return .otherScheme }
            start += 1
        }
        guard start == value.count || value[start] == space else { return .otherScheme }
        while start < value.count, value[start] == space { start += 1 }
        let token = UnsafeBufferPointer(rebasing: value[start...])
        guard 1...tokenBytesMax ~= token.count, isToken(token) else { return .malformed }
        return .token(String(decoding: token, as: UTF8.self))
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
        isChange: Bool,
        _ session: IdentityV1.CheckSessionResponse,
        outage: OutageAnswer? = nil
    ) {
        self.init(
            caller: caller,
            isChange: isChange,
            userID: session.userID,
            isGuest: session.proof == .guest,
            proofs: session.callerProofs,
            outage: outage
        )
    }
}
