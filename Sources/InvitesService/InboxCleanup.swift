import Logging
import Models

/// Forgets events that were applied long ago, so that the table which keeps them from being applied twice stays small.
struct InboxCleanup: Sendable {
    /// The most events forgotten with one statement, which keeps its transaction short.
    static let eventsMax = 1_000
    /// How often it looks.
    static let interval = Duration.seconds(600)

    let phones: PhoneStore
    let clock: WallClock
    let retention: Duration
    let logger: Logger

    /// Looks now and then, until the task is cancelled.
    @Sendable func run() async {
        while !Task.isCancelled {
            await clean()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Forgets what is old enough. A database that is down isn't this task's to mend: the next look comes.
    func clean() async {
        let time = clock.nowMilliseconds - retention.components.seconds * 1_000
        do {
            while try await phones.forgetEvents(appliedBeforeMilliseconds: time, limit: Self.eventsMax)
                == Self.eventsMax
            {
                try Task.checkCancellation()
            }
        } catch {
            if !Task.isCancelled { logger.warning("inbox not cleaned, will retry", metadata: ["error": "\(error)"]) }
        }
    }
}
