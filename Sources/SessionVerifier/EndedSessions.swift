/// The ended sessions, kept for as long as their tokens could be accepted. A pure value: time is passed in.
///
/// Two generations: the older one is dropped after the time that tokens are accepted, so that each session is kept for at least
/// that time and at most twice of it.
struct EndedSessions: Sendable {
    let countMax: Int
    /// How long a token of an ended session may look valid.
    private(set) var believed: Duration = .seconds(3_600)
    private var newer: Set<SessionKey> = []
    private var older: Set<SessionKey> = []
    private var turnedAt: ContinuousClock.Instant
    /// Until when a session that was not kept may matter; nil if all are kept.
    private var incompleteUntil: ContinuousClock.Instant?
    /// All sessions begun before this time have ended, in Unix milliseconds.
    var sessionsFromMilliseconds: Int64 = 0

    init(countMax: Int, now: ContinuousClock.Instant) {
        self.countMax = countMax
        turnedAt = now
    }

    /// The number of kept sessions.
    var count: Int { newer.count + older.count }

    /// Adds an ended session.
    mutating func insert(_ session: SessionKey, now: ContinuousClock.Instant) {
        if newer.contains(session) { return }
        guard count < countMax else {
            incompleteUntil = now + believed
            return
        }
        newer.insert(session)
    }

    /// Drops sessions that don't matter any more. To be called now and then.
    mutating func turn(now: ContinuousClock.Instant) {
        if let end = incompleteUntil, now >= end { incompleteUntil = nil }
        guard now - turnedAt >= believed else { return }
        older = newer
        newer = []
        turnedAt = now
    }

    /// Takes the time that tokens are accepted, as identity sends it. A longer earlier time stays in force: earlier tokens may live
    /// that long.
    mutating func believe(for time: Duration) { if time > believed { believed = time } }

    /// Drops all sessions.
    mutating func forget() { (newer, older, incompleteUntil, sessionsFromMilliseconds) = ([], [], nil, 0) }

    /// Whether all received sessions are kept.
    var isComplete: Bool { incompleteUntil == nil }

    /// Whether a token's session has ended; nil if the kept sessions don't decide it.
    func hasEnded(_ claims: TokenClaims) -> Bool? {
        if newer.contains(claims.session) || older.contains(claims.session) { return true }
        guard sessionsFromMilliseconds > 0 else { return false }
        guard let begunAt = claims.sessionBegunAtSeconds else { return nil }
        // In whole seconds, rounded down.
        if begunAt < sessionsFromMilliseconds / 1000 { return true }
        return Duration.seconds(begunAt) >= .milliseconds(sessionsFromMilliseconds) ? false : nil
    }
}
