import IdentityDomain
import Logging
import Models
import Synchronization

/// Applies the provider notices that ``IdentityMethods/acceptNotice(_:context:)`` has stored. Each replica runs one; an event is
/// applied by one of them.
final class NoticeApplier: Sendable {
    /// The longest wait of an event that this process didn't store, such as one of a replica that is gone.
    static let interval: Duration = .seconds(5)

    let metrics = NoticeMetrics()
    private let store: IdentityStore
    private let revocations: RevocationHub
    private let clock: WallClock
    private let logger: Logger
    private let nudges: AsyncStream<Void>
    private let nudged: AsyncStream<Void>.Continuation

    init(store: IdentityStore, revocations: RevocationHub, clock: WallClock, logger: Logger) {
        self.store = store
        self.revocations = revocations
        self.clock = clock
        self.logger = logger
        // Any number of nudges asks for just one more round.
        (nudges, nudged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// To be called when a notice was stored. Never waits.
    func nudge() { nudged.yield() }

    /// Applies due notices, whenever one was stored and each ``interval``, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { [nudged] in
                while !Task.isCancelled {
                    nudged.yield()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            tasks.addTask { [self] in
                for await _ in nudges { await applyDue() }
            }
        }
    }

    /// Applies all due notices. A failed one is postponed by itself, so that it doesn't delay the others.
    func applyDue() async {
        do {
            while !Task.isCancelled {
                let keys = try await store.dueNotices(nowMilliseconds: clock.nowMilliseconds)
                var count = 0
                for key in keys where try await apply(key) { count += 1 }
                // The rest is postponed, or another replica works on it.
                if keys.count < IdentityStore.noticesReadMax || count == 0 { return }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("provider notices are not applied, will try again", metadata: ["cause": "\(error)"])
        }
    }

    /// Deletes notices that are too old to be sent again, at most `limit` events. Returns their number.
    func forget(limit: Int) async throws -> Int {
        let (count, lost) = try await store.forgetNotices(nowMilliseconds: clock.nowMilliseconds, limit: limit)
        if lost > 0 {
            metrics.countLost(lost)
            logger.error(
                "provider notices could not be applied for sixty days and are deleted: what they ask for was not done",
                metadata: ["count": "\(lost)"]
            )
        }
        return count
    }

    /// Applies one notice. Throws only if it can't be postponed either, since the database is unavailable then.
    private func apply(_ key: NoticeKey) async throws -> Bool {
        let applied: AppliedNotice?
        do {
            applied = try await store.apply(key, nowMilliseconds: clock.nowMilliseconds)
        } catch {
            guard !Task.isCancelled else { throw error }
            metrics.countFailure()
            logger.error(
                "a provider notice could not be applied, will try again",
                metadata: ["provider": "\(key.provider)", "cause": "\(error)"]
            )
            try await store.postpone(key, nowMilliseconds: clock.nowMilliseconds)
            return false
        }
        guard let applied else { return false }
        metrics.count(applied)
        if applied.endedSessions > 0 { revocations.announce() }
        logger.info(
            "provider notice applied",
            metadata: [
                "provider": "\(applied.provider)", "notice": "\(applied.kind.rawValue)",
                "is_known": "\(applied.userID != nil)", "sessions": "\(applied.endedSessions)",
            ]
        )
        return true
    }
}
