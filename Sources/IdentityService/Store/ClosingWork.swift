import API
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

/// A closed account.
struct ClosedAccount: Sendable, Hashable {
    let userID: UserID
    /// The account that has absorbed it, if it was a guest's, a UUID; nil for none.
    let successor: String?
}

/// Closed accounts that a service has not been notified of. In no order, and never parked: an account that was deleted is deleted
/// everywhere, however long that takes.
struct ClosingWork: WorkKind {
    /// How many calls are under way at once.
    static let callsMax = 8
    /// At least so many items are a backlog: no caller waits for them, so they are delivered one at a time, each followed by a rest of
    /// ``restShare`` times its duration. Else the services and the database would have no time for waiting callers.
    static let backlogMin = 20
    static let restShare = 3
    /// The longest such rest: a slow service has time for others anyway.
    static let restMax = Duration.milliseconds(20)

    static let columns = ["w.user_id", "w.data ->> 'successor'"]

    let receiver: ClosingReceiver
    let clock: WallClock
    /// Closes an account at the service. It answers when the closing is durable, and deletes what takes longer in the background.
    let close: @Sendable (ClosedAccount, CallOptions) async throws(RPCError) -> Void

    var queue: String { Self.queue(of: receiver) }

    static func queue(of receiver: ClosingReceiver) -> String { "closings.\(receiver)" }

    var rules: WorkRules {
        var rules = WorkRules()
        rules.together = 100
        return rules
    }

    func item(_ row: Row, from first: Int) throws -> ClosedAccount? {
        ClosedAccount(
            userID: UserID(try row.decode(first, as: PostgresUUID.self)),
            successor: try row.decode(first + 1)
        )
    }

    func perform(_ items: [ClosedAccount], deadline: Deadline) async throws {
        let options = CallOptions(deadline: deadline)
        guard items.count < Self.backlogMin else {
            for item in items {
                let began = ContinuousClock.now
                try await deliver(item, options)
                try await Task.sleep(for: min((ContinuousClock.now - began) * Self.restShare, Self.restMax))
            }
            return
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, item) in items.enumerated() {
                if index >= Self.callsMax { try await group.next() }
                group.addTask { try await deliver(item, options) }
            }
            try await group.waitForAll()
        }
    }

    private func deliver(_ account: ClosedAccount, _ options: CallOptions) async throws {
        do {
            try await close(account, options)
        } catch {
            if let setback = WorkSetback(neverParked: error) { throw setback }
            throw error
        }
    }

    /// Records that the service has deleted the users' data. The other service's statement does the same: both lock the rows in one order.
    func finish(_ items: [ClosedAccount], ids: [Int64], in database: PostgresClient) async throws {
        let now = PostgresTimestamp(milliseconds: clock.nowMilliseconds)
        let column =
            switch receiver {
            case .profile: "profile_done_at"
            case .invites: "invites_done_at"
            }
        try await database.execute(
            """
            WITH done AS (
                DELETE FROM work WHERE id = ANY(\(ids))
            ), locked AS MATERIALIZED (
                SELECT user_id FROM account_closings WHERE user_id = ANY(\(items.map(\.userID.uuid))) ORDER BY user_id FOR UPDATE
            )
            UPDATE account_closings SET \(unsafeSQL: column) = \(now) FROM locked
            WHERE account_closings.user_id = locked.user_id
            """
        )
    }
}

extension ClosingWork {
    /// Closed accounts for profile.
    static func profile(_ profile: ProfileServiceClient, clock: WallClock) -> ClosingWork {
        ClosingWork(receiver: .profile, clock: clock) { (account, options) throws(RPCError) in
            var request = ProfileV1.CloseAccountRequest()
            request.userID = account.userID.description
            _ = try await profile.closeAccount(request, options: options)
        }
    }

    /// Closed accounts for invites.
    static func invites(_ invites: InvitesServiceClient, clock: WallClock) -> ClosingWork {
        ClosingWork(receiver: .invites, clock: clock) { (account, options) throws(RPCError) in
            var request = InvitesV1.CloseAccountRequest()
            request.userID = account.userID.description
            request.successorUserID = account.successor ?? ""
            _ = try await invites.closeAccount(request, options: options)
        }
    }
}
