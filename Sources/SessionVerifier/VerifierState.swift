import API
import Synchronization

/// A verifier's state: the tokens that it has seen, the ended sessions, and until when it may rely on the latter. Any thread; the
/// lock is held for moments only.
final class VerifierState: Sendable {
    /// The known state of a token's session, without asking identity.
    enum Standing { case alive, ended, unknown }

    fileprivate struct Values {
        var remembered: RememberedTokens
        /// Grows with each key set: a token that was verified with an older one isn't remembered.
        var keySetNumber: UInt64 = 0
        var ended: EndedSessions
        /// Until when silence means that no session ended; nil until all ended sessions have been received.
        var currentUntil: ContinuousClock.Instant?
        var position: [UInt8] = []
        var silenceMax: Duration = .seconds(3)
        var heardAt: ContinuousClock.Instant
        var asked: UInt64 = 0
        var streams: UInt64 = 0
    }

    /// So many heartbeats may be missed: a late one on a busy machine is no reason to ask identity for each call.
    private static let heartbeatsMissed = 3
    /// The bounds for the heartbeat that identity announces.
    private static let heartbeatBounds: ClosedRange<Duration> = .milliseconds(100) ... .seconds(60)

    private let values: Mutex<Values>
    private let clockTolerance: Duration

    init(_ configuration: SessionVerifierConfiguration) {
        clockTolerance = configuration.clockTolerance
        let now = ContinuousClock.now
        values = Mutex(
            Values(
                remembered: RememberedTokens(countMax: configuration.rememberedTokensMax),
                ended: EndedSessions(countMax: configuration.endedSessionsMax, now: now),
                heardAt: now
            )
        )
    }

    // MARK: Tokens

    /// The claims of a token that was verified before, and the current number for ``remember(_:of:keySetNumber:)``.
    func remembered(_ token: String) -> (claims: TokenClaims?, keySetNumber: UInt64) {
        values.withLock { ($0.remembered.claims(of: token), $0.keySetNumber) }
    }

    /// Remembers a verified token, unless the key set has changed since that number.
    func remember(_ claims: TokenClaims, of token: String, keySetNumber: UInt64) {
        values.withLock { if $0.keySetNumber == keySetNumber { $0.remembered.insert(claims, of: token) } }
    }

    /// Forgets all tokens: the key set has changed.
    func forgetTokens() {
        values.withLock { values in
            values.keySetNumber += 1
            values.remembered.forget()
        }
    }

    /// The known state of a session now. An end is final; that a session is alive is known only while the stream is current.
    func standing(_ claims: TokenClaims) -> Standing {
        let now = ContinuousClock.now
        return values.withLock { values in
            switch values.ended.hasEnded(claims) {
            case true?: return .ended
            case false? where values.isCurrent(now): return .alive
            default:
                values.asked += 1
                return .unknown
            }
        }
    }

    // MARK: The stream

    /// The position to resume the stream from.
    var position: [UInt8] { values.withLock { $0.position } }

    /// To be called when a stream is being opened.
    func streamBegins() {
        values.withLock { values in
            values.streams += 1
            values.heardAt = .now
        }
    }

    /// To be called when the stream has ended: from now on each call asks identity.
    func streamEnded() { values.withLock { $0.currentUntil = nil } }

    /// Applies a message. Returns whether the state has caught up.
    func take(_ message: IdentityV1.WatchRevocationsResponse, nowMilliseconds: Int64) -> Bool {
        let sessions = message.sessionIds.compactMap { SessionKey($0) }
        let now = ContinuousClock.now
        return values.withLock { values in
            values.heardAt = now
            if message.reset {
                values.ended.forget()
                values.position = []
                values.currentUntil = nil
            }
            if message.heartbeatMilliseconds > 0 {
                let bounds = Self.heartbeatBounds
                let heartbeat = Duration.milliseconds(min(message.heartbeatMilliseconds, 60_000))
                values.silenceMax = min(max(heartbeat, bounds.lowerBound), bounds.upperBound) * Self.heartbeatsMissed
            }
            if message.believedMilliseconds > 0 {
                values.ended.believe(for: .milliseconds(min(message.believedMilliseconds, 86_400_000)))
            }
            values.ended.turn(now: now)
            for session in sessions { values.ended.insert(session, now: now) }
            if message.hasSessionsFromMilliseconds {
                values.ended.sessionsFromMilliseconds = message.sessionsFromMilliseconds
            }
            guard message.caughtUp else { return false }
            if !message.position.isEmpty { values.position = Array(message.position) }
            // From two clocks that may differ by any amount: computed as durations, whose difference always fits.
            let age = max(.zero, Duration.milliseconds(nowMilliseconds) - .milliseconds(message.toldAtMilliseconds))
            values.currentUntil = now + values.silenceMax - max(.zero, age - clockTolerance)
            return true
        }
    }

    /// Whether the stream has been silent for too long.
    func hasBeenSilentTooLong() -> Bool { values.withLock { ContinuousClock.now - $0.heardAt > $0.silenceMax } }

    /// How long to wait before the next check for silence.
    var silenceMax: Duration { values.withLock { $0.silenceMax } }

    /// The statistics.
    var statistics: SessionVerifier.Statistics {
        let now = ContinuousClock.now
        return values.withLock { values in
            SessionVerifier.Statistics(
                isCurrent: values.isCurrent(now),
                endedSessions: values.ended.count,
                asked: values.asked,
                streams: values.streams
            )
        }
    }
}

extension VerifierState.Values {
    fileprivate func isCurrent(_ now: ContinuousClock.Instant) -> Bool {
        guard let currentUntil, ended.isComplete else { return false }
        return now < currentUntil
    }
}
