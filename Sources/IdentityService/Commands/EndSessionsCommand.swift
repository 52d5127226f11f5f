import FoundationEssentials
import Logging
import Models

/// The command `identity end-sessions`: ends all sessions, those from before a time, or those of an account.
struct EndSessionsCommand: Sendable {
    /// The maximum difference of this machine's clock and PostgreSQL's: the end is a time, and start times of sessions from other
    /// clocks are compared with it.
    static let clockDifferenceMillisecondsMax: Int64 = 10_000

    let store: IdentityStore
    let clock: WallClock

    /// Why nothing was changed.
    enum Refusal: Error, CustomStringConvertible, Hashable {
        /// The command was not confirmed.
        case unconfirmed(EndedSessions, liveSessions: Int64)
        /// A clock is wrong, so the end time would be wrong too.
        case clocksDiffer(milliseconds: Int64)
        /// The time is in the future: sessions begun until then would be ended from the start.
        case inTheFuture

        /// One line.
        var description: String {
            switch self {
            case .unconfirmed(let which, let count):
                "\(count) live sessions\(which.words) would be ended, and \(which.people) would have to sign in again. "
                    + "Nothing was changed; --confirm does it"
            case .clocksDiffer(let milliseconds):
                "this machine's clock is \(milliseconds) ms ahead of PostgreSQL's (negative: behind). Nothing was changed; "
                    + "set the clocks first"
            case .inTheFuture:
                "the time is in the future. Nothing was changed"
            }
        }
    }

    /// Runs the command. Throws a ``Refusal`` or the database's errors.
    ///
    /// - Returns: a sentence for people about what was done.
    func run(_ which: EndedSessions, isConfirmed: Bool, logger: Logger) async throws -> String {
        try await checkClock()
        let now = clock.nowMilliseconds
        if case .begunBefore(let milliseconds) = which, milliseconds > now { throw Refusal.inTheFuture }
        let count = try await store.liveSessionCount(which, nowMilliseconds: now)
        guard isConfirmed else { throw Refusal.unconfirmed(which, liveSessions: count) }
        if case .account(let userID) = which {
            let ended = try await store.endSessions(of: userID, nowMilliseconds: now)
            logger.notice("sessions of an account ended", metadata: ["sessions": .stringConvertible(ended)])
            return "ended \(ended) live sessions of the account"
        }
        let milliseconds = try await store.endSessions(which, count: count, clock)
        logger.notice(
            "all sessions ended",
            metadata: [
                "sessions": .stringConvertible(count), "sessions_from_milliseconds": .stringConvertible(milliseconds),
            ]
        )
        try await waitForTheNextSecond(after: milliseconds)
        return
            "ended \(count) live sessions: those begun before \(EndedSessions.text(milliseconds)) are refused, and so are "
            + "sign-ins with provider tokens issued before it"
    }

    /// Times in provider tokens are whole seconds, so tokens that are issued later in the second of the end are refused, too. After the
    /// command has returned, sign-ins are accepted.
    private func waitForTheNextSecond(after milliseconds: Int64) async throws {
        let left = (milliseconds / 1000 + 1) * 1000 - clock.nowMilliseconds
        if 1...1000 ~= left { try await Task.sleep(for: .milliseconds(left)) }
    }

    private func checkClock() async throws {
        let before = clock.nowMilliseconds
        guard let theirs = try await store.databaseClockMilliseconds() else { return }
        // PostgreSQL's clock was read between two readings of ours.
        let difference = theirs < before ? before - theirs : min(0, clock.nowMilliseconds - theirs)
        guard abs(difference) <= Self.clockDifferenceMillisecondsMax else {
            throw Refusal.clocksDiffer(milliseconds: difference)
        }
    }
}

extension EndedSessions {
    /// A time as text for people.
    fileprivate static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }

    /// Which of the live sessions, to follow the words "live sessions".
    fileprivate var words: String {
        switch self {
        case .all: ""
        case .begunBefore(let milliseconds): " from before \(Self.text(milliseconds))"
        case .account: " of the account"
        }
    }

    fileprivate var people: String {
        switch self {
        case .all: "everybody"
        case .begunBefore: "those people"
        case .account: "its owner"
        }
    }
}
