import IdentityDomain
import Logging
import Models
import RPC

/// Deletes the accounts whose scheduled deletion is due. Each replica runs one. If two read the same account, the second finds it
/// deleted.
///
/// Each account is closed in its own transaction, which checks under its locks whether the deletion is still due. A failed deletion
/// is postponed, and the later ones are performed.
struct ScheduledDeletions: Sendable {
    /// The pause between two looks for due deletions.
    static let interval: Duration = .seconds(5)

    let store: IdentityStore
    let identifiers: IdentifierSource
    let metrics: DeletionMetrics
    let clock: WallClock
    /// Called after a commit that ended sessions and closed an account.
    let accountClosed: @Sendable () -> Void
    let logger: Logger

    /// Deletes until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await round()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Deletes all accounts that are due now.
    func round() async {
        do {
            while !Task.isCancelled {
                let due = try await store.dueDeletions(nowMilliseconds: clock.nowMilliseconds)
                var count = 0
                for userID in due where try await delete(userID) { count += 1 }
                // The rest is postponed, or another replica works on it.
                if due.count < IdentityStore.dueDeletionsMax || count == 0 { return }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("scheduled deletions are not looked for, will try again", metadata: ["cause": "\(error)"])
        }
    }

    /// Deletes one account. Throws only if it can't be postponed either, since the database is unavailable then.
    private func delete(_ userID: UserID) async throws -> Bool {
        do {
            let closing = try await store.closeAccount(
                userID,
                why: .deleted,
                ground: .schedule,
                eventIDs: (identifiers.make(), identifiers.make()),
                nowMilliseconds: clock.nowMilliseconds,
                deadline: .after(IdentityStore.dueDeletionLimit)
            )
            guard closing.isNew else { return false }
            metrics.count(.done)
            accountClosed()
            return true
        } catch is DeletionNotDue {
            // Cancelled or blocked in this moment.
            return false
        } catch IdentityError.accountNotFound {
            return false
        } catch {
            guard !Task.isCancelled else { throw error }
            metrics.count(.failed)
            logger.error("an account could not be deleted, will try again", metadata: ["cause": "\(error)"])
            try await store.postponeDeletion(of: userID, nowMilliseconds: clock.nowMilliseconds)
            return false
        }
    }
}
