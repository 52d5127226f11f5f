import FoundationEssentials
import Logging
import Models

/// What `identity end-sessions` does: ends all sessions.
struct EndSessionsCommand: Sendable {
    /// How far this machine's clock may be from PostgreSQL's: the end is a moment, and sessions begun by other clocks are
    /// compared with it.
    static let clockDifferenceMillisecondsMax: Int64 = 10_000

    let store: IdentityStore
    let clock: WallClock

    /// Why nothing was changed.
    enum Refusal: Error, CustomStringConvertible, Hashable {
        /// Nobody said that it is meant.
        case unconfirmed(liveSessions: Int64)
        /// A clock is wrong, and with it the moment would be.
        case clocksDiffer(milliseconds: Int64)

        /// One line.
        var description: String {
            switch self {
            case .unconfirmed(let count):
                "\(count) live sessions would be ended, and everybody would have to sign in again. Nothing was changed; "
                    + "--confirm does it"
            case .clocksDiffer(let milliseconds):
                "this machine's clock is \(milliseconds) ms ahead of PostgreSQL's (negative: behind). Nothing was changed; "
                    + "set the clocks first"
            }
        }
    }

    /// Does it, or throws a ``Refusal`` or what the database throws.
    func run(isConfirmed: Bool, logger: Logger) async throws -> String {
        let before = clock.nowMilliseconds
        if let theirs = try await store.databaseClockMilliseconds() {
            // Theirs was read between two readings of ours.
            let difference = theirs < before ? before - theirs : min(0, clock.nowMilliseconds - theirs)
            guard abs(difference) <= Self.clockDifferenceMillisecondsMax else {
                throw Refusal.clocksDiffer(milliseconds: difference)
            }
        }
        let count = try await store.liveSessionCount(nowMilliseconds: clock.nowMilliseconds)
        guard isConfirmed else { throw Refusal.unconfirmed(liveSessions: count) }
        let milliseconds = try await store.endAllSessions(clock)
        let from = Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
        logger.notice(
            "all sessions ended",
            metadata: [
                "sessions": .stringConvertible(count), "sessions_from_milliseconds": .stringConvertible(milliseconds),
            ]
        )
        return
            "ended \(count) live sessions: those begun before \(from) are refused, and so are sign-ins with provider "
            + "tokens issued before it"
    }
}
