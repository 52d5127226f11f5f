import API
import JOSE
import RPC
import ServiceLifecycle

/// Verifies identity's access tokens for another service, without a call each time: by identity's public keys, and by the stream of
/// ended sessions, which is open while ``run()`` runs.
///
/// A token of an ended session is rejected within moments of the end. While that isn't certain (the stream is down, was silent for
/// too long, or hasn't caught up yet), each call asks identity by CheckSession. A call never waits for the stream.
///
/// Any thread. As a `Service` it ends with its `ServiceGroup`.
public final class SessionVerifier: Service {
    /// A verifier's statistics.
    public struct Statistics: Sendable, Hashable {
        /// Whether tokens are verified without asking identity now.
        public let isCurrent: Bool
        /// The ended sessions that are kept, since their tokens could still look valid.
        public let endedSessions: Int
        /// The calls so far in which identity had to be asked.
        public let asked: UInt64
        /// The streams opened so far; many of them suggest that a network or a proxy cuts them.
        public let streams: UInt64
    }

    let configuration: SessionVerifierConfiguration
    let client: IdentityServiceClient
    let keys: IdentityKeySet
    let state: VerifierState
    let nowMilliseconds: @Sendable () -> Int64

    /// A verifier. Until it runs, each call asks identity.
    ///
    /// - Parameters:
    ///   - channel: a channel to identity, best to all its replicas: a stream that ends is opened again at the next one. The
    ///     verifier neither opens nor closes it.
    ///   - configuration: the required claims of tokens, and the limits.
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

    /// The current statistics, for metrics.
    public var statistics: Statistics { state.statistics }

    /// Keeps the stream open and the keys fresh, until a graceful shutdown or the task's cancellation. Failures are retried.
    public func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.keys.run() }
                group.addTask { await self.holdStreams() }
            }
        }
    }

    /// Verifies an access token and returns its session.
    ///
    /// - Parameter token: the part of `authorization` after `Bearer `.
    /// - Throws: why the token is rejected. `.unavailable` says nothing about the token.
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
        // Before the look-up: different texts can be equal as `String`, unless they are ASCII, and a stranger's may have any
        // length.
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

    /// Asks identity.
    private func ask(_ token: String, _ claims: TokenClaims) async throws(SessionRefusal) -> VerifiedSession {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = token
        let answer: IdentityV1.CheckSessionResponse
        do {
            answer = try await client.checkSession(request, options: CallOptions(timeout: configuration.askTimeout))
        } catch {
            // Without a reason, identity rejects us as a caller, not the token.
            guard error.code == .unauthenticated, let reason = error.reason else { throw .unavailable(error) }
            switch reason {
            case "ACCESS_TOKEN_EXPIRED": throw .expired
            case "ACCESS_TOKEN_INVALID": throw .invalid
            default: throw .ended
            }
        }
        // Identity judged the same token; if it names another session or user, the token is invalid.
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
            isGuest: claims.isGuest,
            wasAsked: wasAsked
        )
    }
}
