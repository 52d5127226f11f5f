import Logging
import Models

/// Forgets events that were applied, and keys that created groups, long ago, so that the tables which keep them from being
/// applied and created twice stay small.
struct InboxCleanup: Sendable {
    /// The most events, or keys, forgotten with one statement, which keeps its transaction short.
    static let eventsMax = 1_000
    /// How often it looks.
    static let interval = Duration.seconds(600)

    let phones: PhoneStore
    let groups: GroupStore
    let clock: WallClock
    let retention: Duration
    let keyRetention: Duration
    let logger: Logger

    /// Looks now and then, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await clean()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Forgets what is old enough. A database that is down isn't this task's to mend: the next look comes.
    func clean() async {
        let now = clock.nowMilliseconds
        await repeating("inbox not cleaned, will retry") {
            let time = now - retention.components.seconds * 1_000
            return try await phones.forgetEvents(appliedBeforeMilliseconds: time, limit: Self.eventsMax)
        }
        await repeating("idempotency keys not cleaned, will retry") {
            let time = now - keyRetention.components.seconds * 1_000
            return try await groups.forgetKeys(usedBeforeMilliseconds: time, limit: Self.eventsMax)
        }
    }

    private func repeating(_ problem: Logger.Message, _ forget: () async throws -> Int) async {
        do {
            while try await forget() == Self.eventsMax { try Task.checkCancellation() }
        } catch {
            if !Task.isCancelled { logger.warning(problem, metadata: ["error": "\(error)"]) }
        }
    }
}
