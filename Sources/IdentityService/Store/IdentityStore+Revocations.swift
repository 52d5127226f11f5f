import Models
import Postgres
import RPC
import ServiceStore

/// How the log of ended sessions is read.
///
/// A row becomes visible when its transaction ends, in no order. Horizons and places are numbers whose meaning only the log knows that made
/// them. Any thread.
protocol RevocationLog: Sendable {
    /// The channel by which replicas that end sessions notify the others; nil if they look by themselves alone.
    var channel: String? { get }

    /// Sessions that ended since an earlier read, in no order.
    ///
    /// - Parameters:
    ///   - earlier: what an earlier read of the same database saw; nil reads no ended sessions.
    ///   - limit: the most sessions to read. If as many are returned, there may be more.
    ///   - changesMax: the most changes of accounts to read.
    func read(
        since earlier: RevocationsSeen?,
        limit: Int,
        changesMax: Int
    ) async throws -> RevocationsRead

    /// Sessions that ended behind a place, in the order of the log, no matter what became of their transactions before.
    func read(after place: RevocationPlace, limit: Int, deadline: Deadline?) async throws -> RevocationsRead

    /// The place from which a caller needs the log who has had it up to a horizon.
    func place(before horizon: UInt64) -> RevocationPlace

    /// What is still certain after a read failed, since the server may have crashed.
    func certain(of seen: RevocationsSeen) -> RevocationsSeen

    /// Notifies all replicas on ``channel`` that sessions have ended.
    func notify() async throws(PostgresError)
}

/// What a read of the log saw.
enum RevocationsSeen: Sendable, Hashable {
    /// By ``SnapshotRevocationLog``.
    case snapshot(RevocationSnapshot)
    /// By ``ClockRevocationLog``.
    case clock(RevocationClock)

    /// No session whose place is before it is reported later.
    var horizon: UInt64 {
        switch self {
        case .snapshot(let snapshot): snapshot.horizon
        case .clock(let clock): UInt64(clamping: clock.sessions.end)
        }
    }

    /// The newest horizon that another replica may have given: the clock of the server that answered it may be ahead.
    var newestHorizon: UInt64 {
        switch self {
        case .snapshot: horizon
        case .clock: horizon + UInt64(ClockWindow<Int64>.stepBackMax)
        }
    }
}

/// Identifies a database: horizons mean something in it alone, and those of PostgreSQL's transactions only until a failover.
struct DatabaseIdentity: Sendable, Hashable {
    let systemIdentifier: Int64
    /// Changes when a standby takes over or a backup is restored.
    let timeline: UInt32
}

/// Sessions that ended, as one read of the database sees them.
struct RevocationsRead: Sendable, Hashable {
    let seen: RevocationsSeen
    let database: DatabaseIdentity
    /// Sessions that were begun before this time have ended, in Unix milliseconds.
    let sessionsFromMilliseconds: Int64
    let sessionIDs: [SessionID]
    /// Changes of accounts of which their owners are notified; none in a read by place.
    var accountChanges: [AccountChange] = []
    /// The last session's place in the log; nil if there is none.
    let last: RevocationPlace?

    /// - Parameter epoch: the time of the table `session_epoch`. Without its row all sessions count as ended.
    init(
        seen: RevocationsSeen,
        database: DatabaseIdentity,
        epoch: PostgresTimestamp?,
        sessionIDs: [SessionID],
        accountChanges: [AccountChange],
        last: RevocationPlace?
    ) {
        (self.seen, self.database, self.sessionIDs) = (seen, database, sessionIDs)
        (self.accountChanges, self.last) = (accountChanges, last)
        sessionsFromMilliseconds = max(0, (epoch ?? PostgresTimestamp(microsecondsSince1970: .max)).milliseconds)
    }
}

/// A place in the log of ended sessions.
struct RevocationPlace: Sendable, Hashable {
    /// The number of the transaction, or the time in microseconds since 1970.
    let number: UInt64
    let id: Int64

    /// The place before all rows with a number.
    static func before(_ number: UInt64) -> RevocationPlace { RevocationPlace(number: number, id: 0) }
}

extension IdentityStore {
    /// The log of ended sessions, as the database lets it be read.
    ///
    /// - Parameter transactionsInDoubt: see ``SnapshotRevocationLog``.
    func revocationLog(transactionsInDoubt: UInt64) -> any RevocationLog {
        switch database.configuration.engine {
        case .postgresql: SnapshotRevocationLog(database: database, transactionsInDoubt: transactionsInDoubt)
        case .distributed: ClockRevocationLog(database: database)
        }
    }

    /// The longest that an access token of an ended session may look valid: the longest lifetime that can be configured, since the
    /// token's may not be today's.
    static let tokensBelievedMilliseconds = SessionTokenMint.accessTokenSecondsMax * 1000
    /// The margin beyond that for clocks that differ, and transactions that take long.
    static let revocationMarginMilliseconds: Int64 = 1_200_000
    /// How long ended sessions are remembered.
    static let revocationsKeptMilliseconds = tokensBelievedMilliseconds + revocationMarginMilliseconds
    /// The same in seconds.
    static let revocationsKeptSeconds = revocationsKeptMilliseconds / 1000

    /// Forgets ended sessions whose tokens no longer look valid, at most `limit`, and returns how many.
    func forgetRevocations(limit: Int) async throws(PostgresError) -> Int {
        let rows = try await database.execute(
            """
            DELETE FROM revocations WHERE id IN (
                SELECT id FROM revocations
                WHERE revoked_at <= now() - make_interval(secs => \(Double(Self.revocationsKeptMilliseconds) / 1000))
                ORDER BY revoked_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
