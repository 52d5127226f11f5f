import API
import Synchronization

/// What a verifier knows: tokens that it has seen, sessions that ended, and until when it may rely on the latter. Any thread;
/// the lock is held for moments only.
final class VerifierState: Sendable {
    /// What is known of a token's session without asking.
    enum Standing { case alive, ended, unknown }

    fileprivate struct Values {
        var remembered: RememberedTokens
        /// Grows with each key set: what was verified by an older one isn't remembered.
        var keySetNumber: UInt64 = 0
        var ended: EndedSessions
        /// Until when silence means that nothing ended; nil while what ended is not all told.
        var currentUntil: ContinuousClock.Instant?
        var position: [UInt8] = []
        var silenceMax: Duration = .seconds(3)
        var heardAt: ContinuousClock.Instant
        var asked: UInt64 = 0
        var streams: UInt64 = 0
    }

    /// So many heartbeats may stay out: one is late on a busy machine, and is no reason to ask for each call.
    private static let heartbeatsMissed = 3
    /// Bounds of what identity may say of its heartbeat.
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

    /// The claims of a token that was verified before; and the number to remember it by.
    func remembered(_ token: String) -> (claims: TokenClaims?, keySetNumber: UInt64) {
        values.withLock { ($0.remembered.claims(of: token), $0.keySetNumber) }
    }

    /// Remembers a token that was verified, by keys that were good at that number.
    func remember(_ claims: TokenClaims, of token: String, keySetNumber: UInt64) {
        values.withLock { if $0.keySetNumber == keySetNumber { $0.remembered.insert(claims, of: token) } }
    }

    /// The key set is another one.
    func forgetTokens() {
        values.withLock { values in
            values.keySetNumber += 1
            values.remembered.forget()
        }
    }

    /// What is known of a session now. That it ended is known for good; that it lives only while the stream is current.
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

    /// Where to go on.
    var position: [UInt8] { values.withLock { $0.position } }

    /// A stream is being opened.
    func streamBegins() {
        values.withLock { values in
            values.streams += 1
            values.heardAt = .now
        }
    }

    /// From now on each call asks.
    func streamEnded() { values.withLock { $0.currentUntil = nil } }

    /// Takes what a message tells. Whether all is told by now.
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
            // By two clocks that may differ by anything: as durations, whose difference always fits.
            let age = max(.zero, Duration.milliseconds(nowMilliseconds) - .milliseconds(message.toldAtMilliseconds))
            values.currentUntil = now + values.silenceMax - max(.zero, age - clockTolerance)
            return true
        }
    }

    /// Whether nothing was heard for longer than may be.
    func hasBeenSilentTooLong() -> Bool { values.withLock { ContinuousClock.now - $0.heardAt > $0.silenceMax } }

    /// How long to wait before looking again whether there is silence.
    var silenceMax: Duration { values.withLock { $0.silenceMax } }

    /// How it goes.
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
