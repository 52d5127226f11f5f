/// How long sessions and their parts live, in seconds.
public struct SessionLimits: Sendable, Hashable {
    /// How long a token gets the same successor again. For as long after the first use of a successor, requests with the token that it
    /// replaced get the successor's tokens: parallel refreshes of one app agree. Phones lose answers: ten seconds were too short for
    /// others. Within it a thief and the owner share the successor unseen, so it is no longer.
    public var refreshGraceSeconds: Int64 = 30
    /// How old a call may be that is late and no reuse: longer than a gateway tries one. It bounds what a caller's wrong
    /// clock can do.
    public var refreshLatenessSeconds: Int64 = 15
    /// The same when this process was stopped meanwhile and goes on: calls lay before it for as long, and their callers
    /// went elsewhere.
    public var refreshLatenessAfterPauseSecondsMax: Int64 = 600
    /// For how long a session may go without a refresh.
    public var inactivitySeconds: Int64 = 30 * 86_400
    /// How long a session may live at all.
    public var absoluteSeconds: Int64 = 180 * 86_400
    /// For how long an access token is valid.
    public var accessTokenSeconds: Int64 = 600
    /// For how long a single token is valid that is renewed.
    public var singleTokenSeconds: Int64 = 30 * 86_400
    /// For how long the same provider token gets the session that it bought again.
    public var signInRetrySeconds: Int64 = 60

    /// How many sessions of an account may be alive: a sign-in beyond ends the one that was used longest ago.
    public var sessionsMax = 50
    /// The most that ``sessionsMax`` may be, and how many sessions a list of them holds.
    public static let sessionsListedMax = 200
    /// How long ago the session may have been opened by which an ``AccountAct`` is performed; 0 for any time.
    public var deletionSignInSeconds: Int64 = 600
    /// How long after it was asked for a scheduled deletion happens: the time in which it can be cancelled.
    public var deletionDelaySeconds: Int64 = 7 * 86_400
    /// For how long the audit log keeps what it tells.
    public var eventRetentionSeconds: Int64 = 400 * 86_400
    /// The least of that: a service can't make the log forget younger events, as the database sees to.
    public static let eventRetentionSecondsMin: Int64 = 30 * 86_400

    /// The default limits.
    public init() {}

    /// How old the time of a session's last use may become before a use of its single token writes it anew: an hour, or
    /// less where sessions end that soon without use. A session ends by so much too early at most.
    public var useRecordedSeconds: Int64 { min(3_600, inactivitySeconds / 24) }

    /// Whether a use now is to be written down.
    public func isUseToBeRecorded(lastUsedAtMilliseconds: Int64, nowMilliseconds: Int64) -> Bool {
        nowMilliseconds >= lastUsedAtMilliseconds + useRecordedSeconds * 1000
    }

    /// When a refresh token came in from its owner, in Unix milliseconds: what the caller says, if it is believed, but not
    /// after now and not longer ago than lateness may be.
    ///
    /// - Parameters:
    ///   - told: what the caller says; 0 is now.
    ///   - pauseMilliseconds: for how long this process did not run just before now.
    public func presentedAtMilliseconds(told: Int64, nowMilliseconds now: Int64, pauseMilliseconds: Int64) -> Int64 {
        guard told != 0 else { return now }
        let pause = min(
            max(pauseMilliseconds, 0),
            (refreshLatenessAfterPauseSecondsMax - refreshLatenessSeconds) * 1000
        )
        return min(max(told, now - refreshLatenessSeconds * 1000 - pause), now)
    }
}
