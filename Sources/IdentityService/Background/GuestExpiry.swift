import IdentityDomain
import Logging
import Models
import RPC

/// Deletes guest accounts that were not used for long. Each replica runs one, apart from the cleaning up: to close an account takes some
/// transactions' time, and after a flood many are due. Each reads a few at a time that are its own for a while, and rests between, so that
/// callers have the database.
///
/// Each account is closed in its own transaction, as by any deletion, which checks under its locks whether it was used meanwhile. A
/// deletion that fails is postponed, and those behind it are performed.
struct GuestExpiry: Sendable {
    /// How long the deletion of one account may take.
    static let limit = Duration.seconds(5)
    /// How many accounts are read at once.
    static let accountsMax = 32
    /// The pause behind so many; there may be more.
    static let rest = Duration.milliseconds(500)
    /// The pause when no more are due.
    static let interval = Duration.seconds(60)

    let store: IdentityStore
    let policy: GuestPolicy
    let identifiers: IdentifierSource
    let metrics: GuestMetrics
    let clock: WallClock
    /// Called after a commit that ended sessions and closed an account.
    let accountClosed: @Sendable () -> Void
    let logger: Logger

    /// Deletes until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let mayBeMore = await round()
            try? await Task.sleep(for: mayBeMore ? Self.rest : Self.interval)
        }
    }

    /// Looks at a few guest accounts whose time has come, and deletes those that were not used.
    ///
    /// - Returns: whether more may be due now.
    func round() async -> Bool {
        do {
            let (users, count) = try await store.dueGuests(
                policy,
                nowMilliseconds: clock.nowMilliseconds,
                limit: Self.accountsMax
            )
            for userID in users {
                try Task.checkCancellation()
                try await delete(userID)
            }
            return count == Self.accountsMax
        } catch {
            guard !Task.isCancelled else { return false }
            logger.warning("unused guest accounts are not looked for, will try again", metadata: ["cause": "\(error)"])
            return false
        }
    }

    /// Deletes one account. Throws only if it can't be postponed either, since the database is unavailable then.
    private func delete(_ userID: UserID) async throws {
        let now = clock.nowMilliseconds
        do {
            let closing = try await store.closeAccount(
                userID,
                why: .guestExpired,
                ground: .unusedGuest(sinceMilliseconds: now - policy.inactivitySeconds * 1000),
                eventIDs: (identifiers.make(), identifiers.make()),
                nowMilliseconds: now,
                deadline: .after(Self.limit)
            )
            guard closing.isNew else { return }
            metrics.count(.expired)
            accountClosed()
        } catch is DeletionNotDue {
            // Used, or linked, in this moment.
        } catch IdentityError.accountNotFound {
            // Deleted in this moment.
        } catch {
            guard !Task.isCancelled else { throw error }
            metrics.count(.expiryFailed)
            logger.error("a guest account could not be deleted, will try again", metadata: ["cause": "\(error)"])
            try await store.postponeGuest(userID, nowMilliseconds: clock.nowMilliseconds)
        }
    }
}
