/// Which sessions ended, kept for as long as a token of theirs could be believed. A pure value: time is passed in.
///
/// Two generations: what is in the older one goes after the time that tokens are believed, so that each is kept for that time
/// and at most twice of it.
struct EndedSessions: Sendable {
    let countMax: Int
    /// For how long a token of an ended session may look valid.
    private(set) var believed: Duration = .seconds(3_600)
    private var newer: Set<SessionKey> = []
    private var older: Set<SessionKey> = []
    private var turnedAt: ContinuousClock.Instant
    /// Until when one that was not kept may matter; nil if all are.
    private var incompleteUntil: ContinuousClock.Instant?
    /// Sessions that were begun before it have ended, in Unix milliseconds.
    var sessionsFromMilliseconds: Int64 = 0

    init(countMax: Int, now: ContinuousClock.Instant) {
        self.countMax = countMax
        turnedAt = now
    }

    /// How many are kept.
    var count: Int { newer.count + older.count }

    /// Takes one that ended.
    mutating func insert(_ session: SessionKey, now: ContinuousClock.Instant) {
        if newer.contains(session) { return }
        guard count < countMax else {
            incompleteUntil = now + believed
            return
        }
        newer.insert(session)
    }

    /// Lets go of those that don't matter any more. To be called now and then.
    mutating func turn(now: ContinuousClock.Instant) {
        if let end = incompleteUntil, now >= end { incompleteUntil = nil }
        guard now - turnedAt >= believed else { return }
        older = newer
        newer = []
        turnedAt = now
    }

    /// Takes the time that tokens are believed, as identity tells it; one that was longer counts on, since those are kept by it.
    mutating func believe(for time: Duration) { if time > believed { believed = time } }

    /// Forgets all.
    mutating func forget() { (newer, older, incompleteUntil, sessionsFromMilliseconds) = ([], [], nil, 0) }

    /// Whether all are here that were told.
    var isComplete: Bool { incompleteUntil == nil }

    /// Whether a token's session is one that ended; nil if that can't be told by what is kept.
    func hasEnded(_ claims: TokenClaims) -> Bool? {
        if newer.contains(claims.session) || older.contains(claims.session) { return true }
        guard sessionsFromMilliseconds > 0 else { return false }
        guard let begunAt = claims.sessionBegunAtSeconds else { return nil }
        // In whole seconds, rounded down.
        if begunAt < sessionsFromMilliseconds / 1000 { return true }
        return Duration.seconds(begunAt) >= .milliseconds(sessionsFromMilliseconds) ? false : nil
    }
}
