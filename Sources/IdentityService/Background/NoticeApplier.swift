import IdentityDomain
import Logging
import Models
import Synchronization

/// Applies what providers told and ``IdentityMethods/acceptNotice(_:context:)`` has stored. Each replica runs one; an event is
/// applied by one of them.
final class NoticeApplier: Sendable {
    /// How long an event waits at most that nobody of this process has stored: one of a replica that is gone.
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
        // One more round is all that any number of them asks for.
        (nudges, nudged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something was stored. Never waits.
    func nudge() { nudged.yield() }

    /// Applies what is due, whenever something was stored and each ``interval``, until the task is cancelled.
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

    /// Applies all that is due. What fails is put off, each by itself, so that none holds up the others.
    func applyDue() async {
        do {
            while !Task.isCancelled {
                let keys = try await store.dueNotices(nowMilliseconds: clock.nowMilliseconds)
                var count = 0
                for key in keys where try await apply(key) { count += 1 }
                // The rest is put off, or another replica is at it.
                if keys.count < IdentityStore.noticesReadMax || count == 0 { return }
            }
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("provider notices are not applied, will try again", metadata: ["cause": "\(error)"])
        }
    }

    /// Forgets messages that are too old to come again, at most `limit` events of them, and tells how many.
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

    /// Applies one; throws only if it can't be put off either, since there is no database then.
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
