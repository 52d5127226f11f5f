import API
import JOSE
import RPC
import ServiceLifecycle

/// Verifies access tokens of identity for a service of its own, without a call each time: by identity's public keys, and by
/// the stream of sessions that end, which is held while ``run()`` runs.
///
/// A token of a session that ended is refused within moments of its end. While that can't be relied on (the stream is down, was
/// silent for too long, or what ended meanwhile isn't told yet), identity is asked for each call, as CheckSession. A call never
/// waits for the stream.
///
/// Any thread. As a `Service` it ends with its `ServiceGroup`.
public final class SessionVerifier: Service {
    /// How a verifier is doing.
    public struct Statistics: Sendable, Hashable {
        /// Whether tokens are verified without asking now.
        public let isCurrent: Bool
        /// Sessions that ended and are kept, as their tokens could still look valid.
        public let endedSessions: Int
        /// Calls in which identity had to be asked, so far.
        public let asked: UInt64
        /// Streams that were opened, so far; many are a sign of a network or a proxy that cuts them.
        public let streams: UInt64
    }

    let configuration: SessionVerifierConfiguration
    let client: IdentityServiceClient
    let keys: IdentityKeySet
    let state: VerifierState
    let nowMilliseconds: @Sendable () -> Int64

    /// A verifier. Until it runs, identity is asked for each call.
    ///
    /// - Parameters:
    ///   - channel: to identity, best to all its replicas: a stream that ends is opened again at the next one. Neither opened
    ///     nor closed.
    ///   - configuration: what tokens must name, and the bounds.
    public convenience init(channel: any ClientChannel, configuration: SessionVerifierConfiguration) {
        self.init(channel: channel, configuration: configuration) { WallTime.nowMilliseconds }
    }

    /// - Parameter nowMilliseconds: the time of day.
    init(
        channel: any ClientChannel,
        configuration: SessionVerifierConfiguration,
        nowMilliseconds: @escaping @Sendable () -> Int64
    ) {
        self.configuration = configuration
        self.nowMilliseconds = nowMilliseconds
        client = IdentityServiceClient(channel)
        let state = VerifierState(configuration)
        self.state = state
        keys = IdentityKeySet(
            client: client,
            timeout: configuration.askTimeout,
            cooldown: configuration.keySetCooldown
        ) { state.forgetTokens() }
    }

    /// How it is doing; for metrics.
    public var statistics: Statistics { state.statistics }

    /// Holds the stream and keeps the keys young, until a graceful shutdown or the task's cancellation. What fails is tried
    /// again.
    public func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.keys.run() }
                group.addTask { await self.holdStreams() }
            }
        }
    }

    /// Tells whose an access token is.
    ///
    /// - Parameter token: what follows `Bearer ` in `authorization`.
    /// - Throws: why it lets nobody in. Of these `.unavailable` says nothing of the token.
    public func verify(_ token: String) async throws(SessionRefusal) -> VerifiedSession {
        let claims = try await verifiedClaims(token)
        guard nowMilliseconds() / 1000 < claims.expiresAtSeconds else { throw .expired }
        switch state.standing(claims) {
        case .alive: return VerifiedSession(claims, wasAsked: false)
        case .ended: throw .ended
        case .unknown: return try await ask(token, claims)
        }
    }

    private func verifiedClaims(_ token: String) async throws(SessionRefusal) -> TokenClaims {
        // Before it is looked for: texts that differ can be the same `String`, unless they are ASCII, and a stranger's may be
        // of any length.
        guard token.utf8.count <= TokenClaims.tokenBytesMax, token.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .invalid
        }
        let (remembered, keySetNumber) = state.remembered(token)
        if let remembered { return remembered }
        guard let jws = try? CompactJWS(parsing: token, bytesMax: TokenClaims.tokenBytesMax),
            jws.type == TokenClaims.type, let keyID = jws.keyID
        else { throw .invalid }
        let key = try await keys.key(id: keyID, algorithm: jws.algorithm)
        guard let payload = try? jws.verifiedPayload(with: key),
            let claims = TokenClaims(
                payload,
                issuer: configuration.issuer,
                audience: configuration.audience
            )
        else { throw .invalid }
        state.remember(claims, of: token, keySetNumber: keySetNumber)
        return claims
    }

    /// Identity knows.
    private func ask(_ token: String, _ claims: TokenClaims) async throws(SessionRefusal) -> VerifiedSession {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = token
        let answer: IdentityV1.CheckSessionResponse
        do {
            answer = try await client.checkSession(request, options: CallOptions(timeout: configuration.askTimeout))
        } catch {
            // Without a reason it is of us that identity wants to know nothing, not of the token.
            guard error.code == .unauthenticated, let reason = error.reason else { throw .unavailable(error) }
            switch reason {
            case "ACCESS_TOKEN_EXPIRED": throw .expired
            case "ACCESS_TOKEN_INVALID": throw .invalid
            default: throw .ended
            }
        }
        // It judged the same token; one that it takes for another's is nobody's.
        guard SessionKey(answer.sessionID) == claims.session, answer.userID == claims.userID else { throw .invalid }
        return VerifiedSession(claims, wasAsked: true)
    }
}

extension VerifiedSession {
    fileprivate init(_ claims: TokenClaims, wasAsked: Bool) {
        self.init(
            userID: claims.userID,
            sessionID: claims.sessionID,
            expiresAtSeconds: claims.expiresAtSeconds,
            wasAsked: wasAsked
        )
    }
}
