import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// The services that are notified of closed accounts.
enum ClosingReceiver: String, Sendable, CaseIterable {
    case profile
    case invites
}

/// Closed accounts of which a service wasn't notified yet.
typealias ClosingOutbox = TableOutbox<ClosingRows>

/// The rows of the outbox that are for one receiver.
struct ClosingRows: OutboxRows {
    /// An account was closed.
    struct Event: OutboxEvent, Hashable {
        let userID: UserID
        var failureCount = 0
        var trace: TraceContext?
    }

    static let keyColumn = "user_id"
    static let eventColumns = ["user_id"]
    static let about = "'account closed, ' || o.user_id::text"

    let to: ClosingReceiver
    let clock: WallClock

    var receiver: String? { to.rawValue }

    func event(_ row: Row, failureCount: Int, trace: TraceContext?) throws -> Event? {
        let userID = UserID(try row.decode(Self.firstColumn, as: PostgresUUID.self))
        return Event(userID: userID, failureCount: failureCount, trace: trace)
    }

    /// Records that the service has forgotten the people. The relays of the others do the same: all lock the rows in the same order.
    func delivered(_ events: [Event], in transaction: PostgresTransaction) async throws {
        let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
        let column =
            switch to {
            case .profile: "profile_done_at"
            case .invites: "invites_done_at"
            }
        try await transaction.execute(
            """
            WITH locked AS MATERIALIZED (
                SELECT user_id FROM account_closings WHERE user_id = ANY(\(events.map(\.userID.uuid)))
                ORDER BY user_id FOR UPDATE
            )
            UPDATE account_closings SET \(unsafeSQL: column) = \(now) FROM locked
            WHERE account_closings.user_id = locked.user_id
            """
        )
    }
}
