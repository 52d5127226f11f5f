import IdentityDomain
import Logging
import Models
import ServiceModels

/// The command `identity after-restore`: what must be done in a restored database before users sign in. All sessions end, and accounts
/// that were deleted since the backup are deleted again.
struct AfterRestoreCommand: Sendable {
    /// The name in the audit log and in records of closings.
    static let operatorName = "after-restore"

    let store: IdentityStore
    let clock: WallClock

    /// What was done with the accounts of a log.
    struct Outcome: Sendable, Hashable {
        var deleted = 0
        /// Those that the database doesn't have, or had closed itself.
        var gone = 0
        /// Those that had been merged into another account, which has their identities since: as the backup has them, they are whole.
        var merged = 0
    }

    /// Runs the command. It can be repeated; what was cut goes on. Throws an ``EndSessionsCommand/Refusal`` or the database's errors.
    ///
    /// - Parameter isConfirmed: whether to do it; if false, nothing changes and the thrown error says so.
    /// - Returns: sentences for people about what was done.
    func run(_ closed: [ClosedAccountLine], isConfirmed: Bool, logger: Logger) async throws -> [String] {
        // First: until it is done, sessions of the backup are accepted.
        let ended = try await EndSessionsCommand(store: store, clock: clock)
            .run(.all, isConfirmed: isConfirmed, logger: logger)
        let identifiers = IdentifierSource(clock: clock)
        var outcome = Outcome()
        for account in closed {
            guard account.reason != ClosingReason.absorbed.rawValue else {
                outcome.merged += 1
                continue
            }
            do {
                let closing = try await store.closeAccount(
                    account.userID,
                    why: .byOperator,
                    ground: .operatorNamed(Self.operatorName),
                    eventIDs: (identifiers.make(), identifiers.make()),
                    nowMilliseconds: clock.nowMilliseconds,
                    deadline: nil
                )
                if closing.isNew { outcome.deleted += 1 } else { outcome.gone += 1 }
            } catch IdentityError.accountNotFound {
                outcome.gone += 1
            }
        }
        logger.notice(
            "restored database made ready",
            metadata: ["deleted": "\(outcome.deleted)", "gone": "\(outcome.gone)", "merged": "\(outcome.merged)"]
        )
        return [
            ended,
            "deleted \(outcome.deleted) accounts again; \(outcome.gone) were not in the database, \(outcome.merged) had been merged "
                + "into other accounts and are as they were in the backup",
        ]
    }
}

/// A line of the log of deleted accounts: the id, the time and the reason, separated by spaces.
struct ClosedAccountLine: Sendable, Hashable {
    let userID: UserID
    let reason: String

    /// Nil for a line that is empty or was cut.
    init?(_ line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count == 3, let userID = UserID(String(fields[0])) else { return nil }
        self.userID = userID
        reason = String(fields[2])
    }
}
